// A libOpenCL.so.1 of our own that lists devices; it cannot compute. FATHOM_FAKE_OPENCL says what
// it does: "crash", "none" (no platform), or nothing for two cards, one of them on two platforms,
// and a processor.
#include <CL/cl.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr cl_device_info kPciBusInfo = 0x410F;
constexpr cl_device_info kNvidiaBus = 0x4008;
constexpr cl_device_info kNvidiaSlot = 0x4009;
constexpr cl_device_info kAmdBoardName = 0x4038;

// Platforms are numbers from 1, device d of platform p is 10 p + d.
template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}
template <typename Handle>
std::uintptr_t number_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

cl_int answer(const void* value, std::size_t bytes, std::size_t room, void* into) {
  if (room < bytes) return CL_INVALID_VALUE;
  std::memcpy(into, value, bytes);
  return CL_SUCCESS;
}
cl_int answer(const std::string& text, std::size_t room, void* into) {
  return answer(text.c_str(), text.size() + 1, room, into);
}

}  // namespace

extern "C" {

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* into, cl_uint* count) {
  const char* const mode = std::getenv("FATHOM_FAKE_OPENCL");
  if (mode != nullptr && std::strcmp(mode, "crash") == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (mode != nullptr && std::strcmp(mode, "none") == 0) return -1001;
  for (cl_uint i = 0; i < 3 && i < room; ++i) into[i] = handle<cl_platform_id>(i + 1);
  *count = 3;
  return CL_SUCCESS;
}
// The first platform has a card and a processor, the second fails, the third has the same card and
// another one.
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type, cl_uint, cl_device_id* into,
                      cl_uint* count) {
  const std::uintptr_t number = number_of(platform);
  if (number == 2) return CL_DEVICE_NOT_FOUND;
  into[0] = handle<cl_device_id>(10 * number);
  into[1] = handle<cl_device_id>(10 * number + 1);
  *count = 2;
  return CL_SUCCESS;
}
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t room, void* into,
                       std::size_t*) {
  const std::uintptr_t number = number_of(device);
  const bool is_processor = number == 11;
  switch (what) {
    case CL_DEVICE_NAME:
      return answer(is_processor ? "A\tprocessor" : number == 31 ? "gfx90a" : "A card", room, into);
    case CL_DEVICE_VENDOR:
      return answer("Maker", room, into);
    case CL_DRIVER_VERSION:
      return answer("1.2", room, into);
    case CL_DEVICE_TYPE: {
      const cl_device_type type = is_processor ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
      return answer(&type, sizeof type, room, into);
    }
    case CL_DEVICE_GLOBAL_MEM_SIZE: {
      const cl_ulong bytes = is_processor ? 0 : 1 << 30;
      return answer(&bytes, sizeof bytes, room, into);
    }
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: {
      const cl_uint mhz = 1500;
      return answer(&mhz, sizeof mhz, room, into);
    }
    case kPciBusInfo: {
      if (number != 10) return CL_INVALID_VALUE;
      const cl_uint bus[] = {0, 3, 0, 0};
      return answer(bus, sizeof bus, room, into);
    }
    case kNvidiaBus:
    case kNvidiaSlot: {
      if (number != 30) return CL_INVALID_VALUE;
      const cl_uint value = what == kNvidiaBus ? 3 : 0;
      return answer(&value, sizeof value, room, into);
    }
    case kAmdBoardName:
      return number == 31 ? answer("Big Card", room, into) : CL_INVALID_VALUE;
    default:
      return CL_INVALID_VALUE;
  }
}

// Looked for, not called. The header has declared them otherwise.
#define NOT_CALLED(name)                   \
  void not_called_##name() __asm__(#name); \
  void not_called_##name() {               \
    std::abort();                          \
  }
NOT_CALLED(clGetPlatformInfo)
NOT_CALLED(clCreateContext)
NOT_CALLED(clReleaseContext)
NOT_CALLED(clCreateCommandQueue)
NOT_CALLED(clReleaseCommandQueue)
NOT_CALLED(clCreateBuffer)
NOT_CALLED(clReleaseMemObject)
NOT_CALLED(clCreateProgramWithSource)
NOT_CALLED(clBuildProgram)
NOT_CALLED(clReleaseProgram)
NOT_CALLED(clCreateKernel)
NOT_CALLED(clReleaseKernel)
NOT_CALLED(clSetKernelArg)
NOT_CALLED(clEnqueueNDRangeKernel)
NOT_CALLED(clEnqueueWriteBuffer)
NOT_CALLED(clEnqueueReadBuffer)
NOT_CALLED(clEnqueueMapBuffer)
NOT_CALLED(clEnqueueUnmapMemObject)
NOT_CALLED(clFinish)

}  // extern "C"
