#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "devices/opencl_library.h"

// One device of OpenCL to work with. What fails throws base::Error.
namespace fathom::devices::opencl {

// What OpenCL gives and takes back.
template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;
using Buffer = Owned<cl_mem>;
using Kernel = Owned<cl_kernel>;

class Session {
 public:
  Session(std::shared_ptr<const Library> library, cl_device_id device, const char* source);

  Buffer buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const;
  Kernel kernel(const char* name) const;

  template <typename Value>
  void set(const Kernel& kernel, cl_uint place, const Value& value) const {
    check(library_->set_kernel_arg(kernel.get(), place, sizeof value, &value), "clSetKernelArg");
  }
  void set(const Kernel& kernel, cl_uint place, const Buffer& value) const {
    cl_mem memory = value.get();
    check(library_->set_kernel_arg(kernel.get(), place, sizeof memory, &memory), "clSetKernelArg");
  }

  // Work for the device, in one or two dimensions; `group` of 0 leaves the choice to the driver.
  void enqueue(const Kernel& kernel, std::size_t width, std::size_t height = 1,
               std::size_t group = 0) const;
  void write(const Buffer& to, const void* from, std::size_t bytes) const;
  void read(const Buffer& from, void* to, std::size_t bytes) const;
  // Where the host sees the buffer; until the session ends.
  void* map(const Buffer& buffer, std::size_t bytes) const;
  void unmap(const Buffer& buffer, void* where) const;
  void finish() const;

 private:
  static void check(cl_int result, const char* call);

  std::shared_ptr<const Library> library_;
  Owned<cl_context> context_;
  Owned<cl_command_queue> queue_;
  Owned<cl_program> program_;
};

}  // namespace fathom::devices::opencl
