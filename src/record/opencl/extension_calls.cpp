// Our functions in place of extensions: queues for OpenCL 1.2, command buffers, unified memory.

#include <CL/cl_ext.h>

#include <array>
#include <type_traits>

#include "record/opencl/enqueue.h"
#include "record/opencl/extensions.h"
#include "record/opencl/memory.h"
#include "record/opencl/queue_calls.h"

namespace fathom::record::opencl {
namespace {

template <typename Function>
Function original_of(Extension which, const Device* device) {
  return reinterpret_cast<Function>(
      original(which, device == nullptr ? nullptr : device->platform));
}

template <typename Function>
Function original_of(Extension which, cl_command_queue handle) {
  const Queue* const queue = find_queue(handle);
  return original_of<Function>(which, queue == nullptr ? nullptr : queue->device);
}

cl_command_queue CL_API_CALL create_queue_khr(cl_context context, cl_device_id device,
                                              const cl_queue_properties* properties,
                                              cl_int* error) {
  const auto create = original_of<CreateQueue>(Extension::create_queue, device_of(device));
  if (create == nullptr) {
    if (error != nullptr) *error = CL_INVALID_DEVICE;
    return nullptr;
  }
  return create_profiled_queue(create, "clCreateCommandQueueWithPropertiesKHR", context, device,
                               properties, error);
}

// It may name no queue, and then runs on the one that its buffer was made for; the event knows.
cl_int CL_API_CALL enqueue_command_buffer(cl_uint queue_count, cl_command_queue* queues,
                                          cl_command_buffer_khr buffer, cl_uint wait_count,
                                          const cl_event* wait, cl_event* event) {
  Extension const which = Extension::enqueue_command_buffer;
  auto function = queue_count > 0 && queues != nullptr
                      ? original_of<clEnqueueCommandBufferKHR_fn>(which, queues[0])
                      : nullptr;
  for (std::size_t i = 0; function == nullptr; ++i) {
    const Queue* const queue = queue_at(i);
    if (queue == nullptr) return CL_INVALID_OPERATION;
    function = original_of<clEnqueueCommandBufferKHR_fn>(which, queue->device);
  }
  cl_event own = nullptr;
  cl_event* const out = event == nullptr ? &own : event;
  const std::int64_t begin_ns = now_ns();
  const cl_int status = function(queue_count, queues, buffer, wait_count, wait, out);
  Queue* const queue = status == CL_SUCCESS ? queue_of(*out) : nullptr;
  if (status == CL_SUCCESS && event != nullptr) driver.clRetainEvent(*out);
  const Enqueued what = {.api = "clEnqueueCommandBufferKHR",
                         .command = {.kind = Kind::kernel, .name = "command buffer"}};
  if (queue == nullptr && status == CL_SUCCESS) driver.clReleaseEvent(*out);
  follow(queue, what, queue == nullptr ? nullptr : *out, begin_ns, status);
  return status;
}

void* CL_API_CALL host_alloc(cl_context context, const cl_mem_properties_intel* properties,
                             size_t bytes, cl_uint alignment, cl_int* error) {
  const auto function =
      original_of<clHostMemAllocINTEL_fn>(Extension::host_alloc, first_device_of(context));
  if (function == nullptr) return nullptr;
  // In the host's memory: the call is recorded, but nothing of a device's is taken.
  return timed(
      Kind::call, "clHostMemAllocINTEL",
      [&] { return function(context, properties, bytes, alignment, error); }, error);
}

void* alloc_by(Extension which, const char* api, cl_context context, cl_device_id device,
               const cl_mem_properties_intel* properties, size_t bytes, cl_uint alignment,
               cl_int* error) {
  static_assert(std::is_same_v<clDeviceMemAllocINTEL_fn, clSharedMemAllocINTEL_fn>);
  const auto function = original_of<clDeviceMemAllocINTEL_fn>(which, first_device_of(context));
  if (function == nullptr) return nullptr;
  void* const address = timed(
      Kind::call, api,
      [&] { return function(context, device, properties, bytes, alignment, error); }, error);
  address_allocated(context, address, bytes, api);
  return address;
}

void* CL_API_CALL device_alloc(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel* properties, size_t bytes,
                               cl_uint alignment, cl_int* error) {
  return alloc_by(Extension::device_alloc, "clDeviceMemAllocINTEL", context, device, properties,
                  bytes, alignment, error);
}

void* CL_API_CALL shared_alloc(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel* properties, size_t bytes,
                               cl_uint alignment, cl_int* error) {
  return alloc_by(Extension::shared_alloc, "clSharedMemAllocINTEL", context, device, properties,
                  bytes, alignment, error);
}

cl_int free_by(Extension which, const char* api, Kind kind, cl_context context, void* address) {
  const auto function = original_of<clMemFreeINTEL_fn>(which, first_device_of(context));
  if (function == nullptr) return CL_INVALID_CONTEXT;
  address_freed(address);
  return timed(kind, api, [&] { return function(context, address); });
}

cl_int CL_API_CALL mem_free(cl_context context, void* address) {
  return free_by(Extension::free, "clMemFreeINTEL", Kind::call, context, address);
}

cl_int CL_API_CALL mem_blocking_free(cl_context context, void* address) {
  return free_by(Extension::blocking_free, "clMemBlockingFreeINTEL", Kind::sync, context, address);
}

cl_int CL_API_CALL enqueue_memcpy(cl_command_queue queue, cl_bool blocking, void* to,
                                  const void* from, size_t bytes, cl_uint wait_count,
                                  const cl_event* wait, cl_event* event) {
  const auto function = original_of<clEnqueueMemcpyINTEL_fn>(Extension::memcpy, queue);
  if (function == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const Enqueued what = {.api = "clEnqueueMemcpyINTEL",
                         .command = {.kind = Kind::copy, .name = "Memcpy", .bytes = bytes},
                         .blocking = blocking != CL_FALSE};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return function(queue, blocking, to, from, bytes, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_mem_fill(cl_command_queue queue, void* to, const void* pattern,
                                    size_t pattern_bytes, size_t bytes, cl_uint wait_count,
                                    const cl_event* wait, cl_event* event) {
  const auto function = original_of<clEnqueueMemFillINTEL_fn>(Extension::mem_fill, queue);
  if (function == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const Enqueued what = {.api = "clEnqueueMemFillINTEL",
                         .command = {.kind = Kind::fill, .name = "MemFill", .bytes = bytes}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return function(queue, to, pattern, pattern_bytes, bytes, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_migrate(cl_command_queue queue, const void* address, size_t bytes,
                                   cl_mem_migration_flags flags, cl_uint wait_count,
                                   const cl_event* wait, cl_event* event) {
  const auto function = original_of<clEnqueueMigrateMemINTEL_fn>(Extension::migrate, queue);
  if (function == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const Enqueued what = {.api = "clEnqueueMigrateMemINTEL",
                         .command = {.kind = Kind::marker, .name = "MigrateMem"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return function(queue, address, bytes, flags, wait_count, wait, out);
  });
}

template <typename Function>
void* address_of(Function function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

ExtensionEntry extension_entry(Extension which) noexcept {
  static const std::array<ExtensionEntry, static_cast<std::size_t>(Extension::count)> entries = {{
      {"clCreateCommandQueueWithPropertiesKHR", address_of(&create_queue_khr)},
      {"clEnqueueCommandBufferKHR", address_of(&enqueue_command_buffer)},
      {"clHostMemAllocINTEL", address_of(&host_alloc)},
      {"clDeviceMemAllocINTEL", address_of(&device_alloc)},
      {"clSharedMemAllocINTEL", address_of(&shared_alloc)},
      {"clMemFreeINTEL", address_of(&mem_free)},
      {"clMemBlockingFreeINTEL", address_of(&mem_blocking_free)},
      {"clEnqueueMemcpyINTEL", address_of(&enqueue_memcpy)},
      {"clEnqueueMemFillINTEL", address_of(&enqueue_mem_fill)},
      {"clEnqueueMigrateMemINTEL", address_of(&enqueue_migrate)},
  }};
  return entries[static_cast<std::size_t>(which)];
}

}  // namespace fathom::record::opencl
