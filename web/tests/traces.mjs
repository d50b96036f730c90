// Small traces and profiles, made here so that a checkout needs nothing else.

const us = (ms) => ms * 1000;
const MB = 2 ** 20;

// Two steps of a training loop: operators, launches, kernels, a copy, communication, memory.
export function trainingTrace() {
  const events = [
    { ph: "M", name: "process_name", pid: 1, tid: 0, args: { name: "python train.py" } },
  ];
  let correlation = 1;
  let held = 100 * MB;
  const memory = (at, bytes, address) => {
    held += bytes;
    events.push({
      ph: "i", s: "t", name: "[memory]", pid: 1, tid: 1, ts: us(at),
      args: { "Device Type": 1, "Device Id": 0, Bytes: bytes, Addr: address, "Total Allocated": held, "Total Reserved": 200 * MB },
    });
  };
  const launch = (name, cat, at, start, duration, stream = 7, args = {}) => {
    const id = correlation++;
    events.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: us(at), dur: 20, args: { correlation: id } });
    events.push({ ph: "X", cat, name, pid: 0, tid: stream, ts: us(start), dur: us(duration), args: { device: 0, stream, correlation: id, ...args } });
  };
  for (let step = 0; step < 2; ++step) {
    const at = step * 10;
    events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts: us(at), dur: us(10) });
    events.push({ ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, ts: us(at + 1), dur: us(3) });
    memory(at + 1.1, 50 * MB, 1000 + step);
    launch("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", at + 0.2, at + 0.4, 0.5, 7, { bytes: 4e6 });
    launch("sgemm_128x64", "kernel", at + 1.2, at + 1.5, 2);
    launch("ncclKernel_AllReduce", "kernel", at + 4, at + 4.5, 1.5, 14);
    if (step === 0) memory(at + 8, -50 * MB, 1000);
  }
  return { schemaVersion: 1, deviceProperties: [{ id: 0, name: "Test GPU", totalGlobalMem: 17179869184 }], traceEvents: events };
}

// A forward and a backward operation that the tracer linked, and a moment.
export const linkedTrace = () => ({
  traceEvents: [
    { ph: "X", cat: "cpu_op", name: "aten::linear", pid: 1, tid: 1, ts: 0, dur: 1000 },
    { ph: "s", cat: "fwdbwd", name: "fwdbwd", id: 1, pid: 1, tid: 1, ts: 0 },
    { ph: "X", cat: "cpu_op", name: "AddmmBackward0", pid: 1, tid: 2, ts: 4000, dur: 1000 },
    { ph: "f", cat: "fwdbwd", name: "fwdbwd", id: 1, pid: 1, tid: 2, ts: 4000, bp: "e" },
    { ph: "i", s: "t", name: "epoch begins", pid: 1, tid: 1, ts: 2500 },
  ],
});

// Steps in which the thread that launches loads data, for longer than the GPU works unless `load` (µs) says else.
export function loadingTrace(load = 3000) {
  const traceEvents = [];
  for (let step = 0; step < 20; ++step) {
    const at = step * 5100;
    const host = (cat, name, start, dur, args = {}) => traceEvents.push({ ph: "X", cat, name, pid: 9, tid: 9, ts: at + start, dur, args });
    host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 3000 - load, load);
    host("cuda_runtime", "cudaLaunchKernel", 3010, 5, { correlation: step + 1 });
    host("cuda_runtime", "cudaDeviceSynchronize", 3016, 2007);
    traceEvents.push({ ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: at + 3020, dur: 2000, args: { device: 0, stream: 7, correlation: step + 1 } });
  }
  return { traceEvents };
}

// A kernel under an operator under Python, with a deep stack elsewhere, named stretches on host and GPU, and a thread that waits.
export function stackTrace() {
  const events = [];
  const on = (cat, name, ts, dur, tid = 5, args = {}) => events.push({ ph: "X", cat, name, pid: 5, tid, ts, dur, args });
  on("python_function", "train.py(90): <module>", 0, 10_000);
  on("python_function", "train.py(80): main", 1, 9998);
  on("python_function", "lib/deep/train.py(70): train", 2, 9996);
  on("user_annotation", "ProfilerStep#0", 3, 9990);
  on("python_function", "model.py(12): forward", 100, 3000);
  on("cpu_op", "aten::linear", 200, 2000);
  on("cpu_op", "aten::addmm", 300, 1500);
  for (let depth = 0; depth < 50; ++depth) on("python_function", `deep.py(${depth}): level_${depth}`, 5000 + depth, 3000 - 2 * depth);
  for (let i = 0; i < 3; ++i) {
    on("cuda_runtime", "cudaLaunchKernel", 400 + i * 100, 50, 5, { correlation: i + 1 });
    const name = "void at::native::(anonymous namespace)::gemm_kernel<float>(float*, int)";
    events.push({ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: 1000 + i * 1000, dur: 800, args: { device: 0, stream: 7, correlation: i + 1 } });
  }
  events.push({ ph: "X", cat: "gpu_user_annotation", name: "ProfilerStep#0", pid: 0, tid: 7, ts: 900, dur: 3000, args: { device: 0, stream: 7 } });
  on("python_function", "threading.py(1): wait", 0, 10_000, 6);
  on("python_function", "threading.py(2): wait_for", 1, 9990, 6);
  return { schemaVersion: 1, traceEvents: events };
}

// A rank of two whose clock runs `ahead` µs: they meet at the ends of their collectives.
export function collectiveTrace(rank, ahead) {
  const traceEvents = [];
  for (let i = 0; i < 8; ++i) {
    const at = ahead + i * 1000 + i * i * 7;
    const late = rank === 1 ? 100 : 0;
    traceEvents.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 9, tid: 9, ts: at, dur: 10, args: { correlation: i + 1 } });
    traceEvents.push({ ph: "X", cat: "kernel", name: "ncclKernel_AllReduce_RING_LL_Sum_float", pid: 0, tid: 20, ts: at + 300 + late, dur: 400 - late, args: { device: 0, stream: 20, correlation: i + 1 } });
  }
  return { schemaVersion: 1, distributedInfo: { backend: "nccl", rank, world_size: 2 }, traceEvents };
}

export const hostTrace = () => ({
  traceEvents: [
    { ph: "X", cat: "cpu_op", name: "aten::add", pid: 1, tid: 1, ts: 0, dur: 500 },
    { ph: "X", cat: "cpu_op", name: "aten::mul", pid: 1, tid: 1, ts: 600, dur: 300 },
  ],
});

export const oneEventTrace = () => ({
  traceEvents: [{ ph: "X", cat: "kernel", name: "only", pid: 0, tid: 7, ts: 5, dur: 1, args: { device: 0, stream: 7 } }],
});

export const longName = `${"very_".repeat(330)}deep<float>()`.padEnd(2000, "x");
export const evilNames = [
  "<script>window.evil = 1</script>",
  "</script><script>window.evil = 2</script>",
  "<img src=x onerror='window.evil = 3'>",
  "<!--data--><!-- {{script}} ${7*7} $& $'",
];

export function namesTrace() {
  const names = [longName, ...evilNames];
  return {
    displayTimeUnit: "<script>window.evil = 4</script>",
    traceEvents: names.map((name, index) => ({
      ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: index * 10, dur: 9 - index, args: { device: 0, stream: 7 },
    })),
  };
}

// As many kernels as no table could hold as DOM nodes.
export function manyKernelsTrace(count) {
  const traceEvents = [];
  for (let i = 0; i < count; ++i) {
    traceEvents.push({ ph: "X", cat: "kernel", name: `kernel_${i}`, pid: 0, tid: 7, ts: i * 2, dur: 1 + (i % 7) / 10, args: { device: 0, stream: 7 } });
  }
  return { traceEvents };
}

export const profile = () => ({
  fathom: "0.1.0",
  run: { command: "./service" },
  entries: [
    { operation: "request", start_time: 1, end_time: 1.01, duration_ms: 10, gpu_time_ms: 6, cpu_time_ms: 2, transfer_time_ms: 1, overhead_ms: 1, memory_allocated_mb: 12, thread: 1 },
    { operation: "infer", start_time: 1.001, end_time: 1.008, duration_ms: 7, gpu_time_ms: 6, cpu_time_ms: 0.5, transfer_time_ms: 0, overhead_ms: 0.5, memory_allocated_mb: 20, thread: 1 },
  ],
  summary: {
    request: { call_count: 1, total_time_ms: 10, avg_time_ms: 10, total_gpu_time_ms: 6, total_cpu_time_ms: 2, total_transfer_time_ms: 1, total_overhead_ms: 1 },
    infer: { call_count: 1, total_time_ms: 7, avg_time_ms: 7, total_gpu_time_ms: 6, total_cpu_time_ms: 0.5, total_transfer_time_ms: 0, total_overhead_ms: 0.5 },
  },
});

// A product on an H100, with its shapes, and what stands around it: 2 · 1000³ FLOP in 4 µs are 50.5 % of the peak.
export function shapedTrace() {
  const traceEvents = [];
  let correlation = 1;
  const launched = (op, args, kernel, at, dur) => {
    const id = correlation++;
    traceEvents.push({ ph: "X", cat: "cpu_op", name: op, pid: 1, tid: 1, ts: at, dur: 8, args });
    traceEvents.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: at + 2, dur: 3, args: { correlation: id } });
    traceEvents.push({ ph: "X", cat: "kernel", name: kernel, pid: 0, tid: 7, ts: at + 6, dur, args: { device: 0, stream: 7, correlation: id } });
  };
  const half = "c10::BFloat16";
  for (let i = 0; i < 3; ++i) {
    const at = i * 40;
    launched("aten::mm", { "Input Dims": [[1000, 1000], [1000, 1000]], "Input type": [half, half] }, "sm90_xmma_gemm_bf16bf16", at, 4);
    launched("aten::gelu", { "Input Dims": [[1000, 1000]], "Input type": [half] }, "void at::native::vectorized_elementwise_kernel<4>", at + 12, 3);
  }
  return { deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3", totalGlobalMem: 85e9 }], traceEvents };
}
