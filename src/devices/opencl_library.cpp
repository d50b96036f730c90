#include "devices/opencl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>

namespace fathom::devices::opencl {
namespace {

// Of extensions, by the number that is theirs.
constexpr cl_device_info kPciBusInfo =
    0x410F;                                    // cl_khr_pci_bus_info: domain, bus, device, function
constexpr cl_device_info kNvidiaBus = 0x4008;  // cl_nv_device_attribute_query
constexpr cl_device_info kNvidiaSlot = 0x4009;  // device and function
constexpr cl_device_info kNvidiaDomain = 0x400A;
constexpr cl_device_info kAmdTopology = 0x4037;  // cl_amd_device_attribute_query
constexpr cl_device_info kAmdBoardName = 0x4038;

struct AmdTopology {
  cl_uint type;
  std::array<cl_uchar, 17> unused;
  cl_uchar bus, device, function;
};
static_assert(sizeof(AmdTopology) == 24);

constexpr cl_uint kMostPlatforms = 64;
constexpr cl_uint kMostDevices = 256;  // per platform

std::string address(cl_uint domain, cl_uint bus, cl_uint device, cl_uint function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus & 0xFF, device & 0x1F, function & 7);
}

}  // namespace

Library::Library(void* handle) : handle_(handle) {
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
  };
  find(get_platform_ids, "clGetPlatformIDs");
  find(get_platform_info, "clGetPlatformInfo");
  find(get_device_ids, "clGetDeviceIDs");
  find(get_device_info, "clGetDeviceInfo");
  find(create_context, "clCreateContext");
  find(release_context, "clReleaseContext");
  find(create_queue, "clCreateCommandQueue");
  find(release_queue, "clReleaseCommandQueue");
  find(create_buffer, "clCreateBuffer");
  find(release_buffer, "clReleaseMemObject");
  find(create_program, "clCreateProgramWithSource");
  find(build_program, "clBuildProgram");
  find(release_program, "clReleaseProgram");
  find(create_kernel, "clCreateKernel");
  find(release_kernel, "clReleaseKernel");
  find(set_kernel_arg, "clSetKernelArg");
  find(enqueue_kernel, "clEnqueueNDRangeKernel");
  find(write_buffer, "clEnqueueWriteBuffer");
  find(read_buffer, "clEnqueueReadBuffer");
  find(map_buffer, "clEnqueueMapBuffer");
  find(unmap_buffer, "clEnqueueUnmapMemObject");
  find(finish, "clFinish");
}

Library::~Library() {
  ::dlclose(handle_);
}

bool Library::is_whole() const {
  return get_platform_ids && get_platform_info && get_device_ids && get_device_info &&
         create_context && release_context && create_queue && release_queue && create_buffer &&
         release_buffer && create_program && build_program && release_program && create_kernel &&
         release_kernel && set_kernel_arg && enqueue_kernel && write_buffer && read_buffer &&
         map_buffer && unmap_buffer && finish;
}

std::shared_ptr<const Library> open_library() {
  // Not of a program that has more rights than who started it.
  const char* const chosen = ::secure_getenv("FATHOM_OPENCL");
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  void* const handle = ::dlopen(is_chosen ? chosen : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto library = std::make_shared<const Library>(handle);
  return library->is_whole() ? library : nullptr;
}

std::vector<cl_device_id> all_devices(const Library& library) {
  std::vector<cl_device_id> all;
  std::vector<cl_platform_id> platforms(kMostPlatforms);
  cl_uint platform_count = 0;
  if (library.get_platform_ids(kMostPlatforms, platforms.data(), &platform_count) != CL_SUCCESS) {
    return all;
  }
  platforms.resize(std::min(platform_count, kMostPlatforms));
  for (cl_platform_id platform : platforms) {
    std::vector<cl_device_id> devices(kMostDevices);
    cl_uint count = 0;
    if (library.get_device_ids(platform, CL_DEVICE_TYPE_ALL, kMostDevices, devices.data(),
                               &count) != CL_SUCCESS) {
      continue;
    }
    devices.resize(std::min(count, kMostDevices));
    all.insert(all.end(), devices.begin(), devices.end());
  }
  return all;
}

std::string text_of(const Library& library, cl_device_id device, cl_device_info what) {
  std::array<char, 512> text{};
  if (library.get_device_info(device, what, text.size() - 1, text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  const std::string whole = text.data();
  const std::size_t begin = whole.find_first_not_of(' ');
  if (begin == whole.npos) return {};
  return whole.substr(begin, whole.find_last_not_of(' ') - begin + 1);
}

const char* type_name(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
}

std::string name_of(const Library& library, cl_device_id device) {
  const std::string board = text_of(library, device, kAmdBoardName);
  return board.empty() ? text_of(library, device, CL_DEVICE_NAME) : board;
}

std::string pci_address_of(const Library& library, cl_device_id device) {
  std::array<cl_uint, 4> bus{};
  if (library.get_device_info(device, kPciBusInfo, sizeof bus, bus.data(), nullptr) == CL_SUCCESS) {
    return address(bus[0], bus[1], bus[2], bus[3]);
  }
  constexpr cl_uint kUnknown = ~cl_uint{0};
  const cl_uint number = number_of(library, device, kNvidiaBus, kUnknown);
  const cl_uint slot = number_of(library, device, kNvidiaSlot, kUnknown);
  if (number != kUnknown && slot != kUnknown) {
    const cl_uint domain = number_of(library, device, kNvidiaDomain, cl_uint{0});
    return address(domain, number, slot >> 3, slot);
  }
  AmdTopology topology{};
  if (library.get_device_info(device, kAmdTopology, sizeof topology, &topology, nullptr) ==
          CL_SUCCESS &&
      topology.type == 1) {
    return address(0, topology.bus, topology.device, topology.function);
  }
  return {};
}

}  // namespace fathom::devices::opencl
