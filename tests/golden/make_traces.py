#!/usr/bin/env python3
"""Writes the small traces of tests/golden: what a run looks like in Kineto's JSON, in whole microseconds.

Deterministic: running it again changes nothing. README.md says how to add a case."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
HOST, MAIN_THREAD, COMPUTE, COMMUNICATION = 100, 1, 7, 20  # process, thread and streams


class Trace:
    """A host thread that launches work on the streams of one GPU. Times are [begin, end) in µs."""

    def __init__(self, rank=None, world_size=None):
        self.events = []
        self.head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Golden GPU", "numSms": 80}]}
        if rank is not None:
            self.head["distributedInfo"] = {"rank": rank, "world_size": world_size}

    def span(self, category, name, begin, end, tid, args=None, pid=HOST):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin,
                            "dur": end - begin, "args": args or {}})

    def step(self, number, begin, end):
        self.span("user_annotation", f"ProfilerStep#{number}", begin, end, MAIN_THREAD)

    def annotation(self, name, begin, end):
        self.span("user_annotation", name, begin, end, MAIN_THREAD)

    def operation(self, name, begin, end, args=None):
        self.span("cpu_op", name, begin, end, MAIN_THREAD, args)

    def product(self, begin, end, rows, type):
        """aten::mm of rows × 1000 by 1000 × 1000: 2,000,000 operations per row."""
        self.operation("aten::mm", begin, end, {"Input Dims": [[rows, 1000], [1000, 1000]], "Input type": [type, type]})

    def call(self, name, begin, end, correlation=0):
        self.span("cuda_runtime", name, begin, end, MAIN_THREAD, {"correlation": correlation})

    def work(self, category, name, begin, end, correlation, stream=COMPUTE, **more):
        self.span(category, name, begin, end, stream,
                  {"device": 0, "stream": stream, "correlation": correlation, **more}, pid=0)

    def kernel(self, name, begin, end, correlation, stream=COMPUTE, **more):
        self.work("kernel", name, begin, end, correlation, stream, **more)

    def memory(self, at, address, size, total):
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": HOST,
                            "tid": MAIN_THREAD, "ts": at,
                            "args": {"Addr": address, "Bytes": size, "Total Allocated": total,
                                     "Device Id": 0, "Device Type": 1}})

    def write(self, path):
        (HERE / path).parent.mkdir(exist_ok=True)
        rows = ",\n".join(json.dumps(event) for event in self.events)
        head = json.dumps(self.head)
        (HERE / path).write_text(f'{head[:-1]}, "traceEvents": [\n{rows}\n]}}\n')


def training_step():
    """Two whole steps and one cut off: copies, kernels, a collective under compute, gaps of all three causes."""
    trace = Trace(rank=0, world_size=1)
    for number in range(2):
        t = 1000 * number
        c = 10 * number
        shift = 40 * number  # the second step differs from the first
        trace.step(number + 1, t, t + 1000)
        trace.operation("aten::to", t + 200, t + 260)
        trace.call("cudaMemcpyAsync", t + 210, t + 250, c + 1)
        trace.work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", t + 230, t + 290, c + 1, bytes=600_000)
        trace.operation("aten::mm", t + 260, t + 300)
        trace.call("cudaLaunchKernel", t + 270, t + 280, c + 2)
        trace.kernel("gemm", t + 295, t + 495 - shift, c + 2)
        trace.operation("aten::relu", t + 300, t + 330)
        trace.call("cudaLaunchKernel", t + 310, t + 320, c + 3)
        trace.kernel("relu", t + 500, t + 550, c + 3)
        trace.operation("c10d::allreduce_", t + 330, t + 370)
        trace.call("cudaLaunchKernelExC", t + 340, t + 352, c + 4)
        trace.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 520, t + 680, c + 4, COMMUNICATION)
        trace.operation("aten::mm", t + 370, t + 420)
        trace.call("cudaLaunchKernel", t + 380, t + 390, c + 5)
        trace.kernel("gemm", t + 600, t + 660 + shift, c + 5)
        trace.operation("aten::add", t + 800, t + 850)
        trace.call("cudaLaunchKernel", t + 810, t + 840, c + 6)
        trace.kernel("add", t + 845, t + 850, c + 6)
        trace.call("cudaMemsetAsync", t + 860, t + 866, c + 7)
        trace.work("gpu_memset", "Memset (Device)", t + 872, t + 874, c + 7, bytes=4096)
        trace.call("cudaLaunchKernel", t + 868, t + 873, c + 8)
        trace.kernel("add", t + 934, t + 950, c + 8)
        trace.call("cudaDeviceSynchronize", t + 900, t + 960)
    trace.step(3, 2000, 2300)
    trace.operation("aten::mm", 2100, 2150)
    trace.call("cudaLaunchKernel", 2110, 2120, 31)
    trace.kernel("gemm", 2130, 2280, 31)
    trace.write("training_step/trace.json")


def graph_replay():
    """A graph of four kernels, replayed three times; each replay is one launch."""
    trace = Trace()
    for replay in range(3):
        t = 200 * replay
        trace.operation("replay", t, t + 30)
        trace.call("cudaGraphLaunch", t + 5, t + 25, replay + 1)
        for node in range(4):
            begin = t + 40 + 25 * node
            trace.kernel(f"node{node}", begin, begin + 20, replay + 1)
    trace.call("cudaDeviceSynchronize", 430, 560)
    trace.write("graph_replay/trace.json")


def two_ranks():
    """Rank 1 computes 60 µs longer before each of ten all-reduces, and its clock is 5,000 µs ahead."""
    for rank, (clock, extra) in enumerate([(0, 0), (5000, 60)]):
        trace = Trace(rank=rank, world_size=2)
        for i in range(10):
            t = clock + 1000 * i
            c = 10 * i
            trace.operation("forward", t, t + 60)
            trace.call("cudaLaunchKernel", t + 10, t + 20, c + 1)
            trace.call("cudaLaunchKernelExC", t + 30, t + 40, c + 2)
            trace.kernel("gemm", t + 50, t + 250 + extra, c + 1)
            trace.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 260 + extra, t + 420, c + 2, COMMUNICATION,
                         **{"Collective name": "allreduce", "Process Group Name": "0", "In msg nelems": 1000})
            trace.call("cudaDeviceSynchronize", t + 60, t + 425)
        trace.write(f"two_ranks/rank{rank}.json")


def critical_path():
    """Host, GPU, host, GPU, each waiting for the one before: the path can be read off."""
    trace = Trace()
    trace.operation("load", 0, 100)
    trace.call("cudaLaunchKernel", 100, 110, 1)
    trace.kernel("first", 120, 320, 1)
    trace.call("cudaDeviceSynchronize", 110, 325)
    trace.operation("host work", 325, 425)
    trace.call("cudaLaunchKernel", 425, 435, 2)
    trace.kernel("second", 440, 540, 2)
    trace.call("cudaDeviceSynchronize", 435, 545)
    trace.write("critical_path/trace.json")


def memory():
    """Four blocks: the peak is where the first and the third live together; the third is never freed."""
    mib = 1 << 20
    trace = Trace()
    trace.operation("load weights", 0, 100)
    trace.memory(10, 0x1000_0000, 100 * mib, 100 * mib)
    trace.operation("step", 100, 500)
    trace.memory(200, 0x2000_0000, 50 * mib, 150 * mib)
    trace.memory(250, 0x2000_0000, -50 * mib, 100 * mib)
    trace.memory(300, 0x3000_0000, 60 * mib, 160 * mib)
    trace.memory(400, 0x1000_0000, -100 * mib, 60 * mib)
    trace.operation("after", 500, 600)
    trace.memory(510, 0x4000_0000, 10 * mib, 70 * mib)
    trace.memory(520, 0x4000_0000, -10 * mib, 60 * mib)
    trace.write("memory/trace.json")


def compare():
    """Three runs per side: `slowed` takes 30 % longer now, `steady` the same; runs differ by 1 %."""
    for side, factor in (("before", 1.0), ("now", 1.3)):
        for run in range(3):
            trace = Trace()
            t = 0
            for i in range(60):
                luck = 1 + 0.005 * (run - 1) + 0.01 * ((i * 7 + run * 3) % 11) / 11
                for name, us in (("slowed", 200 * factor), ("steady", 300)):
                    length = round(us * luck)
                    trace.operation(name, t, t + length)
                    t += length + 10
            trace.write(f"compare/{side}-{run + 1}.json")


def input_bound():
    """The thread that launches also loads the data, for two thirds of each step."""
    trace = Trace()
    for i in range(5):
        t = 30_000 * i
        trace.step(i + 1, t, t + 30_000)
        trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + 20_000)
        trace.operation("aten::mm", t + 20_000, t + 20_100)
        trace.call("cudaLaunchKernel", t + 20_010, t + 20_020, i + 1)
        trace.kernel("ampere_bf16_s16816gemm", t + 20_030, t + 29_900, i + 1)
        trace.call("cudaDeviceSynchronize", t + 20_100, t + 29_950)
    trace.write("input_bound/trace.json")


def tiny_kernels():
    """Four hundred kernels of 2 µs, one after another, from a host that needs 12 µs for each."""
    trace = Trace()
    for i in range(400):
        t = 12 * i
        trace.operation("aten::add_", t, t + 11)
        trace.call("cudaLaunchKernel", t + 3, t + 10, i + 1)
        trace.kernel("vectorized_elementwise_kernel", t + 12, t + 14, i + 1)
    trace.call("cudaDeviceSynchronize", 4800, 4820)
    trace.write("tiny_kernels/trace.json")


def exposed_communication():
    """Each all-reduce begins when the backward pass is over, with nothing beside it."""
    trace = Trace(rank=0, world_size=2)
    for i in range(5):
        t = 10_000 * i
        trace.step(i + 1, t, t + 10_000)
        trace.operation("backward", t, t + 200)
        trace.call("cudaLaunchKernel", t + 10, t + 20, 10 * i + 1)
        trace.call("cudaLaunchKernelExC", t + 100, t + 110, 10 * i + 2)
        trace.kernel("ampere_bf16_s16816gemm", t + 30, t + 6_000, 10 * i + 1)
        trace.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", t + 6_005, t + 9_900, 10 * i + 2, COMMUNICATION)
        trace.call("cudaDeviceSynchronize", t + 200, t + 9_950)
    trace.write("exposed_communication/trace.json")


def why_idle():
    """Four classes of kernels of known work, and the GPU idle for three reasons one after another."""
    trace = Trace()
    trace.product(0, 50, 1000, "float")
    trace.call("cudaLaunchKernel", 10, 20, 1)
    trace.kernel("volta_sgemm_128x64_nn", 50, 450, 1)
    trace.operation("aten::relu", 60, 90, {"Input Dims": [[1000, 1000]], "Input type": ["float"]})
    trace.call("cudaLaunchKernel", 70, 80, 2)
    trace.kernel("vectorized_elementwise_kernel", 450, 500, 2)
    trace.call("cudaMalloc", 400, 880)  # until long after there is nothing left to do
    trace.product(880, 920, 2000, "c10::Half")
    trace.call("cudaLaunchKernel", 890, 900, 3)
    trace.kernel("ampere_fp16_s16816gemm_fp16_128x64_nn", 900, 1100, 3)
    trace.call("cudaStreamSynchronize", 920, 1110)
    trace.operation("aten::_softmax", 1110, 1150)
    trace.call("cudaLaunchKernel", 1120, 1130, 4)
    trace.kernel("softmax_warp_forward", 1140, 1240, 4)
    trace.operation("preprocess", 1160, 2500)
    trace.operation("aten::native_layer_norm", 2500, 2540)
    trace.call("cudaLaunchKernel", 2510, 2520, 5)
    trace.kernel("vectorized_layer_norm_kernel", 2540, 2640, 5)
    trace.call("cudaDeviceSynchronize", 2540, 2660)
    trace.write("why_idle/trace.json")


if __name__ == "__main__":
    for case in (training_step, graph_replay, two_ranks, critical_path, memory, compare, input_bound, tiny_kernels,
                 exposed_communication, why_idle):
        case()
