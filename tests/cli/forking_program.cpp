// A program whose child uses OpenCL after the parent has begun to record: scopes and calls before
// the fork, three kernels in the child, two in the parent.
#include <CL/cl.h>
#include <fathom/fathom.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

void check(cl_int status) {
  if (status != CL_SUCCESS) std::exit(3);
}

void run_kernels(int count) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr));
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  cl_int status = CL_SUCCESS;
  cl_context const context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status);
  cl_command_queue const queue =
      clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status);
  const char* source = "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }";
  cl_program const program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  cl_kernel const kernel = clCreateKernel(program, "twice", &status);
  check(status);
  cl_mem const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, nullptr, &status);
  check(status);
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  const std::size_t items = 256 * static_cast<std::size_t>(count);  // the two differ in size
  for (int i = 0; i < count; ++i) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
  }
  check(clFinish(queue));
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

}  // namespace

int main() {
  {
    FATHOM_SCOPE("before the fork");
    cl_uint platforms = 0;
    check(clGetPlatformIDs(0, nullptr, &platforms));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const pid_t child = fork();
  if (child == 0) {
    FATHOM_SCOPE("in the child");
    run_kernels(3);
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  FATHOM_SCOPE("in the parent");
  run_kernels(2);
  return WEXITSTATUS(status);
}
