// Kernels, and the other commands that run code.

#include <algorithm>

#include "record/opencl/enqueue.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/names.h"

namespace fathom::record::opencl {

cl_int CL_API_CALL enqueue_nd_range_kernel(cl_command_queue queue, cl_kernel kernel,
                                           cl_uint dimensions, const size_t* offset,
                                           const size_t* global, const size_t* local,
                                           cl_uint wait_count, const cl_event* wait,
                                           cl_event* event) {
  Enqueued what = {.api = "clEnqueueNDRangeKernel",
                   .command = {.kind = Kind::kernel, .name = kernel_name(kernel)}};
  const cl_uint sizes = dimensions <= 3 ? dimensions : 0;  // else it will be refused
  what.command.dimensions = static_cast<std::uint8_t>(sizes);
  if (global != nullptr) std::copy_n(global, sizes, what.command.global.begin());
  if (local != nullptr) std::copy_n(local, sizes, what.command.local.begin());
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                         wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueTask",
                         .command = {.kind = Kind::kernel,
                                     .dimensions = 1,
                                     .name = kernel_name(kernel),
                                     .global = {1},
                                     .local = {1}}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueTask(queue, kernel, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                         void* args, size_t args_bytes, cl_uint object_count,
                                         const cl_mem* objects, const void** places,
                                         cl_uint wait_count, const cl_event* wait,
                                         cl_event* event) {
  const Enqueued what = {.api = "clEnqueueNativeKernel",
                         .command = {.kind = Kind::kernel, .name = "native kernel"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueNativeKernel(queue, function, args, args_bytes, object_count, objects,
                                        places, wait_count, wait, out);
  });
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
  cl_int status = CL_SUCCESS;
  const cl_kernel kernel = timed(
      Kind::call, "clCreateKernel", [&] { return driver.clCreateKernel(program, name, &status); },
      &status);
  if (error != nullptr) *error = status;
  if (kernel != nullptr) name_kernel(kernel);
  return kernel;
}

cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint room, cl_kernel* kernels,
                                             cl_uint* count) {
  cl_uint made = 0;
  const cl_int status = timed(Kind::call, "clCreateKernelsInProgram", [&] {
    return driver.clCreateKernelsInProgram(program, room, kernels, &made);
  });
  if (count != nullptr && status == CL_SUCCESS) *count = made;
  if (status == CL_SUCCESS && kernels != nullptr) {
    for (cl_uint i = 0; i < std::min(made, room); ++i) name_kernel(kernels[i]);
  }
  return status;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* error) {
  const cl_kernel kernel = driver.clCloneKernel(source, error);
  if (kernel != nullptr) name_kernel(kernel);
  return kernel;
}

}  // namespace fathom::record::opencl
