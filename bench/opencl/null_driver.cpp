// An OpenCL driver that does nothing but note the time, as drivers do: what a program and a layer
// cost by themselves. Every command is over when it is enqueued.

#include <CL/cl_icd.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstring>

namespace {

extern const cl_icd_dispatch table_of_entries;

// Any object of the driver: loaders find the entry points behind the first pointer.
struct Object {
  const cl_icd_dispatch* dispatch = &table_of_entries;
};

Object platform;
Object device;
Object context;
Object queue;
Object program;
Object kernel;

struct Event : Object {
  cl_ulong stamp = 0;
};

// Reused in turn: nobody holds as many at once.
constexpr std::size_t kEvents = 1 << 17;
std::array<Event, kEvents> events;
std::atomic<std::size_t> event_count = 0;

template <typename Handle>
Handle handle_of(Object& object) {
  return reinterpret_cast<Handle>(&object);
}

template <typename Handle>
Handle made(Object& object, cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return handle_of<Handle>(object);
}

cl_int answer(const void* value, size_t size, size_t room, void* to, size_t* needed) {
  if (to != nullptr && room < size) return CL_INVALID_VALUE;
  if (to != nullptr) std::memcpy(to, value, size);
  if (needed != nullptr) *needed = size;
  return CL_SUCCESS;
}

cl_int text(const char* value, size_t room, void* to, size_t* needed) {
  return answer(value, std::strlen(value) + 1, room, to, needed);
}

cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id* to, cl_uint* count) {
  if (to != nullptr && room > 0) *to = handle_of<cl_platform_id>(platform);
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id /*of*/, cl_platform_info what, size_t room,
                                     void* to, size_t* needed) {
  switch (what) {
    case CL_PLATFORM_EXTENSIONS:
      return text("cl_khr_icd", room, to, needed);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return text("NULL", room, to, needed);
    case CL_PLATFORM_VERSION:
      return text("OpenCL 3.0 null", room, to, needed);
    case CL_PLATFORM_PROFILE:
      return text("FULL_PROFILE", room, to, needed);
    default:
      return text("null", room, to, needed);
  }
}

cl_int CL_API_CALL get_device_ids(cl_platform_id /*of*/, cl_device_type /*type*/, cl_uint room,
                                  cl_device_id* to, cl_uint* count) {
  if (to != nullptr && room > 0) *to = handle_of<cl_device_id>(device);
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_device_info(cl_device_id /*of*/, cl_device_info what, size_t room, void* to,
                                   size_t* needed) {
  if (what == CL_DEVICE_PLATFORM) {
    const cl_platform_id ours = handle_of<cl_platform_id>(platform);
    return answer(&ours, sizeof ours, room, to, needed);
  }
  if (what == CL_DEVICE_NAME) return text("null device", room, to, needed);
  return CL_INVALID_VALUE;
}

cl_context CL_API_CALL create_context(const cl_context_properties* /*properties*/,
                                      cl_uint /*count*/, const cl_device_id* /*devices*/,
                                      void(CL_CALLBACK* /*notify*/)(const char*, const void*,
                                                                    size_t, void*),
                                      void* /*user_data*/, cl_int* error) {
  return made<cl_context>(context, error);
}

cl_command_queue CL_API_CALL create_queue(cl_context /*in*/, cl_device_id /*of*/,
                                          cl_command_queue_properties /*properties*/,
                                          cl_int* error) {
  return made<cl_command_queue>(queue, error);
}

cl_int CL_API_CALL get_queue_info(cl_command_queue /*of*/, cl_command_queue_info what, size_t room,
                                  void* to, size_t* needed) {
  if (what == CL_QUEUE_PROPERTIES) {
    const cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE;
    return answer(&properties, sizeof properties, room, to, needed);
  }
  const void* const object = what == CL_QUEUE_DEVICE ? &device : &context;
  return answer(&object, sizeof object, room, to, needed);
}

cl_program CL_API_CALL create_program(cl_context /*in*/, cl_uint /*count*/, const char** /*lines*/,
                                      const size_t* /*lengths*/, cl_int* error) {
  return made<cl_program>(program, error);
}

cl_int CL_API_CALL build_program(cl_program /*which*/, cl_uint /*count*/,
                                 const cl_device_id* /*devices*/, const char* /*options*/,
                                 void(CL_CALLBACK* /*notify*/)(cl_program, void*),
                                 void* /*user_data*/) {
  return CL_SUCCESS;
}

cl_kernel CL_API_CALL create_kernel(cl_program /*of*/, const char* /*name*/, cl_int* error) {
  return made<cl_kernel>(kernel, error);
}

cl_int CL_API_CALL get_kernel_info(cl_kernel /*of*/, cl_kernel_info /*what*/, size_t room, void* to,
                                   size_t* needed) {
  return text("nothing", room, to, needed);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue /*on*/, cl_kernel /*which*/,
                                  cl_uint /*dimensions*/, const size_t* /*offset*/,
                                  const size_t* /*global*/, const size_t* /*local*/,
                                  cl_uint /*wait_count*/, const cl_event* /*wait*/, cl_event* out) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  Event& event = events[event_count.fetch_add(1, std::memory_order_relaxed) % kEvents];
  event.stamp =
      static_cast<cl_ulong>(now.tv_sec) * 1'000'000'000 + static_cast<cl_ulong>(now.tv_nsec);
  if (out != nullptr) *out = handle_of<cl_event>(event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_event_info(cl_event /*of*/, cl_event_info /*what*/, size_t room, void* to,
                                  size_t* needed) {
  const cl_int complete = CL_COMPLETE;
  return answer(&complete, sizeof complete, room, to, needed);
}

cl_int CL_API_CALL get_profiling_info(cl_event of, cl_profiling_info /*what*/, size_t room,
                                      void* to, size_t* needed) {
  const cl_ulong stamp = reinterpret_cast<const Event*>(of)->stamp;
  return answer(&stamp, sizeof stamp, room, to, needed);
}

cl_int CL_API_CALL release_event(cl_event /*which*/) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL finish(cl_command_queue /*which*/) {
  return CL_SUCCESS;
}

cl_icd_dispatch entry_points() {
  cl_icd_dispatch table = {};
  table.clGetPlatformIDs = get_platform_ids;
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateContext = create_context;
  table.clCreateCommandQueue = create_queue;
  table.clGetCommandQueueInfo = get_queue_info;
  table.clCreateProgramWithSource = create_program;
  table.clBuildProgram = build_program;
  table.clCreateKernel = create_kernel;
  table.clGetKernelInfo = get_kernel_info;
  table.clEnqueueNDRangeKernel = enqueue_kernel;
  table.clGetEventInfo = get_event_info;
  table.clGetEventProfilingInfo = get_profiling_info;
  table.clReleaseEvent = release_event;
  table.clFinish = finish;
  return table;
}

const cl_icd_dispatch table_of_entries = entry_points();

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the loader's names.
#pragma GCC visibility push(default)
extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* to,
                                                       cl_uint* count) {
  return get_platform_ids(room, to, count);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id of, cl_platform_info what,
                                                  size_t room, void* to, size_t* needed) {
  return get_platform_info(of, what, room, to, needed);
}

CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) {
    return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  }
  if (std::strcmp(name, "clGetPlatformInfo") == 0) {
    return reinterpret_cast<void*>(&clGetPlatformInfo);
  }
  return nullptr;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
