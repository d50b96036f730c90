"""OpenCL work of this program itself, recorded without `fathom profile`: pocl and python3-pyopencl are enough."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """if 1:
    import fathom
    assert fathom.record_opencl()
    import json, sys
    import numpy, pyopencl as cl
    from fathom.profiling import UnifiedProfiler

    try:
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error:
        devices = []
    if not devices:
        print("null")
        sys.exit()
    context = cl.Context(devices[:1])
    queue = cl.CommandQueue(context)
    data = numpy.arange(4096, dtype=numpy.float32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    source = "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }"
    kernel = cl.Kernel(cl.Program(context, source).build(), "twice")
    kernel.set_args(buffer)
    with UnifiedProfiler(sys.argv[1]).profile("block") as session:
        with fathom.scope("launch", device="gpu", backend="opencl"):
            for _ in range(3):
                cl.enqueue_nd_range_kernel(queue, kernel, data.shape, None)
            queue.finish()
        cl.enqueue_copy(queue, data, buffer)
    assert data[3] == 24
    entry = next(each for each in fathom.get_profiler().entries if each.operation == "launch")
    print(json.dumps({"kernels": [vars(each) for each in session.kernels], "cuda_time_ms": session.cuda_time_ms,
                      "gpu_time_ms": session.gpu_time_ms, "entry": vars(entry),
                      "summary": vars(fathom.get_profiler().get_summary()["launch"])}))
"""


@unittest.skipUnless(importlib.util.find_spec("pyopencl"), "no pyopencl")
class OpenCL(unittest.TestCase):
    def test_gpu_figures_without_a_recorder_outside(self):
        with tempfile.TemporaryDirectory() as folder:
            # What pyopencl and pocl keep of compiled kernels stays in the folder.
            private = {"HOME": folder, "XDG_CACHE_HOME": folder, "PYOPENCL_NO_CACHE": "1"}
            ran = subprocess.run([sys.executable, "-c", PROGRAM, folder], env={**os.environ, **private},
                                 capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        found = json.loads(ran.stdout.splitlines()[-1])
        if found is None:
            self.skipTest("no OpenCL device")
        kernel, = found["kernels"]
        self.assertEqual((kernel["name"], kernel["calls"]), ("twice", 3))
        self.assertGreater(kernel["cuda_time_us"], 0)
        self.assertAlmostEqual(kernel["mean_time_us"] * 3, kernel["cuda_time_us"], places=6)
        self.assertAlmostEqual(found["gpu_time_ms"], kernel["cuda_time_us"] / 1e3, places=6)
        self.assertEqual(found["cuda_time_ms"], found["gpu_time_ms"])
        entry = found["entry"]
        self.assertAlmostEqual(entry["gpu_time_ms"], kernel["cuda_time_us"] / 1e3, places=3)
        self.assertEqual(entry["transfer_time_ms"], 0)  # the copy came later
        parts = (entry["gpu_time_ms"], entry["transfer_time_ms"], entry["overhead_ms"], entry["cpu_time_ms"])
        self.assertAlmostEqual(sum(parts), entry["duration_ms"], places=5)
        self.assertEqual(found["summary"]["total_gpu_time_ms"], entry["gpu_time_ms"])


if __name__ == "__main__":
    unittest.main()
