#pragma once

#include <CL/cl.h>

#include <memory>
#include <string>
#include <vector>

// The OpenCL loader, opened at run time, so that Fathom starts where there is none.
namespace fathom::devices::opencl {

struct Library {
  explicit Library(void* handle);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool is_whole() const;  // it has all of these

  decltype(&clGetPlatformIDs) get_platform_ids = nullptr;
  decltype(&clGetPlatformInfo) get_platform_info = nullptr;
  decltype(&clGetDeviceIDs) get_device_ids = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clReleaseContext) release_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clReleaseCommandQueue) release_queue = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clReleaseMemObject) release_buffer = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clBuildProgram) build_program = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clSetKernelArg) set_kernel_arg = nullptr;
  decltype(&clEnqueueNDRangeKernel) enqueue_kernel = nullptr;
  decltype(&clEnqueueWriteBuffer) write_buffer = nullptr;
  decltype(&clEnqueueReadBuffer) read_buffer = nullptr;
  decltype(&clEnqueueMapBuffer) map_buffer = nullptr;
  decltype(&clEnqueueUnmapMemObject) unmap_buffer = nullptr;
  decltype(&clFinish) finish = nullptr;

 private:
  void* handle_;
};

// Opens $FATHOM_OPENCL or, where that is not set, libOpenCL.so.1; null where there is none.
std::shared_ptr<const Library> open_library();

// All devices of all platforms. A driver that fails hides no other.
std::vector<cl_device_id> all_devices(const Library& library);

std::string text_of(const Library& library, cl_device_id device, cl_device_info what);

// Nothing where the driver does not know it.
template <typename Number>
Number number_of(const Library& library, cl_device_id device, cl_device_info what,
                 Number otherwise) {
  Number number = otherwise;
  const bool is_known =
      library.get_device_info(device, what, sizeof number, &number, nullptr) == CL_SUCCESS;
  return is_known ? number : otherwise;
}

const char* type_name(cl_device_type type);  // "gpu", "cpu", "accelerator"
// What people call it: AMD's drivers have the name of the chip where others have that of the card.
std::string name_of(const Library& library, cl_device_id device);
// "0000:03:00.0"; empty where it is not known.
std::string pci_address_of(const Library& library, cl_device_id device);

}  // namespace fathom::devices::opencl
