#include "record/opencl/opencl_program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace opencl_program {
namespace {

constexpr const char* kSource = R"(
__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2.0f; }
__kernel void add_one(__global float* x) { x[get_global_id(0)] += 1.0f; }
__kernel void slow(__global float* x) {
  float y = x[get_global_id(0)];
  for (int i = 0; i < 2000; ++i) y = y * 0.999f + 0.001f;
  x[get_global_id(0)] = y;
}
)";

}  // namespace

void check(cl_int status, int line) {
  if (status == CL_SUCCESS) return;
  std::printf("line %d: OpenCL error %d\n", line, status);
  std::exit(3);
}

Setup::Setup() {
  CHECK_CL(clGetPlatformIDs(1, &platform, nullptr));
  CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  cl_int status = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  CHECK_CL(status);
  const char* source = kSource;
  program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  CHECK_CL(status);
  CHECK_CL(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
}

void Setup::release() const {
  CHECK_CL(clReleaseProgram(program));
  CHECK_CL(clReleaseContext(context));
}

cl_kernel Setup::kernel(const char* name) const {
  cl_int status = CL_SUCCESS;
  cl_kernel const made = clCreateKernel(program, name, &status);
  CHECK_CL(status);
  return made;
}

cl_mem Setup::buffer(std::size_t bytes) const {
  cl_int status = CL_SUCCESS;
  cl_mem const made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  CHECK_CL(status);
  return made;
}

cl_command_queue Setup::queue(cl_command_queue_properties properties) const {
  cl_int status = CL_SUCCESS;
  cl_command_queue const made = clCreateCommandQueue(context, device, properties, &status);
  CHECK_CL(status);
  return made;
}

void run(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, cl_event* event,
         const std::vector<cl_event>& wait) {
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  const std::size_t global = kItems;
  const std::size_t local = 64;
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local,
                                  static_cast<cl_uint>(wait.size()),
                                  wait.empty() ? nullptr : wait.data(), event));
}

void truth(const std::string& kind, const std::string& name, int count, std::size_t bytes) {
  std::fprintf(stderr, "truth %s %s %d %zu\n", kind.c_str(), name.c_str(), count, bytes);
}

void truth_duration(const std::string& name, cl_event event) {
  cl_ulong start = 0;
  cl_ulong end = 0;
  CHECK_CL(
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr));
  CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr));
  std::fprintf(stderr, "truth duration %s %llu 0\n", name.c_str(),
               static_cast<unsigned long long>(end - start));
}

}  // namespace opencl_program

int main(int argc, char** argv) {
  using namespace opencl_program;
  const std::string mode = argc > 1 ? argv[1] : "";
  if (run_commands(mode) || run_memory(mode) || run_behaviour(mode) || run_fate(mode, argv[0])) {
    return 0;
  }
  std::fprintf(stderr, "no such mode: %s\n", mode.c_str());
  return 2;
}
