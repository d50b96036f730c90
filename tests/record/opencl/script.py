"""An OpenCL program in Python: seven kernels, one read, no clFinish."""
import numpy
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
values = numpy.arange(1024, dtype=numpy.float32)
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
buffer = cl.Buffer(context, flags, hostbuf=values)
program = cl.Program(
    context, "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }").build()
for _ in range(7):
    program.twice(queue, values.shape, None, buffer)
cl.enqueue_copy(queue, values, buffer)
print(values[:4], queue.properties)
