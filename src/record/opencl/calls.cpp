// Entry points that are recorded as calls and nothing else.

#include "record/opencl/calls.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "record/opencl/sink.h"

namespace fathom::record::opencl {
namespace {

thread_local std::uint32_t this_thread = 0;
std::atomic<std::uint64_t> correlations = 0;

}  // namespace

std::uint32_t thread_id() noexcept {
  if (this_thread == 0) [[unlikely]]
    this_thread = static_cast<std::uint32_t>(gettid());
  return this_thread;
}

void forget_thread_id() noexcept {
  this_thread = 0;
}

std::uint64_t next_correlation() noexcept {
  return correlations.fetch_add(1, std::memory_order_relaxed) + 1;
}

void report_call(Kind kind, const char* name, std::int64_t begin_ns, std::int64_t end_ns,
                 cl_int status, std::string_view message) noexcept {
  returned({.kind = kind,
            .status = status,
            .thread = thread_id(),
            .name = name,
            .scope = open_scope(),
            .begin_ns = begin_ns,
            .end_ns = end_ns,
            .message = message});
}

#define FATHOM_TIMED(name) replace_timed<&cl_icd_dispatch::name, #name>(table)

namespace {

// Short, frequent, and rarely what anybody looks for: FATHOM_OPENCL_API=all adds them.
void install_small_calls(cl_icd_dispatch& table) {
  FATHOM_TIMED(clGetPlatformInfo);
  FATHOM_TIMED(clGetDeviceInfo);
  FATHOM_TIMED(clGetContextInfo);
  FATHOM_TIMED(clRetainContext);
  FATHOM_TIMED(clRetainCommandQueue);
  FATHOM_TIMED(clRetainMemObject);
  FATHOM_TIMED(clGetMemObjectInfo);
  FATHOM_TIMED(clGetImageInfo);
  FATHOM_TIMED(clGetSupportedImageFormats);
  FATHOM_TIMED(clCreateSampler);
  FATHOM_TIMED(clCreateSamplerWithProperties);
  FATHOM_TIMED(clRetainSampler);
  FATHOM_TIMED(clReleaseSampler);
  FATHOM_TIMED(clRetainProgram);
  FATHOM_TIMED(clGetProgramInfo);
  FATHOM_TIMED(clGetProgramBuildInfo);
  FATHOM_TIMED(clRetainKernel);
  FATHOM_TIMED(clReleaseKernel);
  FATHOM_TIMED(clSetKernelArg);
  FATHOM_TIMED(clSetKernelArgSVMPointer);
  FATHOM_TIMED(clSetKernelExecInfo);
  FATHOM_TIMED(clGetKernelInfo);
  FATHOM_TIMED(clGetKernelArgInfo);
  FATHOM_TIMED(clGetKernelWorkGroupInfo);
  FATHOM_TIMED(clGetKernelSubGroupInfo);
  FATHOM_TIMED(clRetainEvent);
  FATHOM_TIMED(clReleaseEvent);
  FATHOM_TIMED(clSetEventCallback);
  FATHOM_TIMED(clCreateUserEvent);
  FATHOM_TIMED(clSetUserEventStatus);
}

}  // namespace

void install_calls(cl_icd_dispatch& table) {
  FATHOM_TIMED(clGetPlatformIDs);  // loading a driver can take a second
  FATHOM_TIMED(clGetDeviceIDs);
  FATHOM_TIMED(clCreateContext);
  FATHOM_TIMED(clCreateContextFromType);
  FATHOM_TIMED(clCreateSubDevices);
  FATHOM_TIMED(clUnloadCompiler);
  FATHOM_TIMED(clUnloadPlatformCompiler);
  FATHOM_TIMED(clFlush);
  FATHOM_TIMED(clCreateSubBuffer);
  FATHOM_TIMED(clReleaseMemObject);
  FATHOM_TIMED(clCreateProgramWithSource);
  FATHOM_TIMED(clCreateProgramWithBinary);
  FATHOM_TIMED(clCreateProgramWithIL);
  FATHOM_TIMED(clCreateProgramWithBuiltInKernels);
  FATHOM_TIMED(clReleaseProgram);
  FATHOM_TIMED(clEnqueueBarrier);  // this and the next give no event, so only the calls are seen
  FATHOM_TIMED(clEnqueueWaitForEvents);
  const char* const which = std::getenv("FATHOM_OPENCL_API");
  if (which != nullptr && std::strcmp(which, "all") == 0) install_small_calls(table);
}

#undef FATHOM_TIMED

}  // namespace fathom::record::opencl
