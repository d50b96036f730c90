#include "devices/opencl_session.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace fathom::devices::opencl {

void Session::check(cl_int result, const char* call) {
  if (result != CL_SUCCESS) throw base::Error("OpenCL", fmt::format("{} gave {}", call, result));
}

Session::Session(std::shared_ptr<const Library> library, cl_device_id device, const char* source)
    : library_(std::move(library)),
      context_(nullptr, library_->release_context),
      queue_(nullptr, library_->release_queue),
      program_(nullptr, library_->release_program) {
  cl_int result = CL_SUCCESS;
  context_.reset(library_->create_context(nullptr, 1, &device, nullptr, nullptr, &result));
  check(result, "clCreateContext");
  queue_.reset(library_->create_queue(context_.get(), device, 0, &result));
  check(result, "clCreateCommandQueue");
  program_.reset(library_->create_program(context_.get(), 1, &source, nullptr, &result));
  check(result, "clCreateProgramWithSource");
  check(library_->build_program(program_.get(), 1, &device, "", nullptr, nullptr),
        "clBuildProgram");
}

Buffer Session::buffer(std::size_t bytes, cl_mem_flags flags) const {
  cl_int result = CL_SUCCESS;
  Buffer made(library_->create_buffer(context_.get(), flags, bytes, nullptr, &result),
              library_->release_buffer);
  check(result, "clCreateBuffer");
  return made;
}

Kernel Session::kernel(const char* name) const {
  cl_int result = CL_SUCCESS;
  Kernel made(library_->create_kernel(program_.get(), name, &result), library_->release_kernel);
  check(result, "clCreateKernel");
  return made;
}

void Session::enqueue(const Kernel& kernel, std::size_t width, std::size_t height,
                      std::size_t group) const {
  const std::array<std::size_t, 2> all = {width, height};
  const std::array<std::size_t, 2> each = {group, group};
  check(
      library_->enqueue_kernel(queue_.get(), kernel.get(), height > 1 ? 2 : 1, nullptr, all.data(),
                               group == 0 ? nullptr : each.data(), 0, nullptr, nullptr),
      "clEnqueueNDRangeKernel");
}

void Session::write(const Buffer& to, const void* from, std::size_t bytes) const {
  check(
      library_->write_buffer(queue_.get(), to.get(), CL_FALSE, 0, bytes, from, 0, nullptr, nullptr),
      "clEnqueueWriteBuffer");
}

void Session::read(const Buffer& from, void* to, std::size_t bytes) const {
  check(
      library_->read_buffer(queue_.get(), from.get(), CL_FALSE, 0, bytes, to, 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
}

void* Session::map(const Buffer& buffer, std::size_t bytes) const {
  cl_int result = CL_SUCCESS;
  void* const where =
      library_->map_buffer(queue_.get(), buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                           bytes, 0, nullptr, nullptr, &result);
  check(result, "clEnqueueMapBuffer");
  return where;
}

void Session::unmap(const Buffer& buffer, void* where) const {
  check(library_->unmap_buffer(queue_.get(), buffer.get(), where, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
}

void Session::finish() const {
  check(library_->finish(queue_.get()), "clFinish");
}

}  // namespace fathom::devices::opencl
