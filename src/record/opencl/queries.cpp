// Questions whose answer we have changed get the answer they would have had without us.

#include <algorithm>
#include <cstring>

#include "record/opencl/calls.h"
#include "record/opencl/commands_in_flight.h"
#include "record/opencl/entry_points.h"

namespace fathom::record::opencl {
namespace {

// The queue whose stamps the program did not ask for, of this event; null otherwise.
Queue* silent_queue_of(cl_event event) {
  Queue* const queue = queue_of(event);
  return queue != nullptr && queue->forced && !queue->asked_profiling ? queue : nullptr;
}

cl_int properties_array(const Queue& queue, size_t room, void* to, size_t* needed) {
  const std::size_t bytes = queue.given.size() * sizeof(cl_queue_properties);
  if (to != nullptr) {
    if (room < bytes) return CL_INVALID_VALUE;
    if (bytes != 0) std::memcpy(to, queue.given.data(), bytes);
  }
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}

}  // namespace

cl_int CL_API_CALL get_event_profiling_info(cl_event event, cl_profiling_info what, size_t room,
                                            void* to, size_t* needed) {
  if (silent_queue_of(event) != nullptr) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return driver.clGetEventProfilingInfo(event, what, room, to, needed);
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t room, void* to,
                                  size_t* needed) {
  if (what != CL_EVENT_REFERENCE_COUNT || to == nullptr || room < sizeof(cl_uint)) {
    return driver.clGetEventInfo(event, what, room, to, needed);
  }
  cl_uint count = 0;
  const cl_int status = reference_count(event, count);
  if (status != CL_SUCCESS) return status;
  std::memcpy(to, &count, sizeof count);
  if (needed != nullptr) *needed = sizeof count;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_queue_info(cl_command_queue handle, cl_command_queue_info what, size_t room,
                                  void* to, size_t* needed) {
  Queue* const queue = find_queue(handle);
  // References that held events have on it are ours as well.
  if (queue != nullptr && what == CL_QUEUE_REFERENCE_COUNT) drain(*queue);
  const bool changed = queue != nullptr && queue->forced;
  if (changed && what == CL_QUEUE_PROPERTIES_ARRAY) {
    const cl_int status = driver.clGetCommandQueueInfo(handle, what, 0, nullptr, nullptr);
    return status == CL_SUCCESS ? properties_array(*queue, room, to, needed) : status;
  }
  const cl_int status = driver.clGetCommandQueueInfo(handle, what, room, to, needed);
  if (status == CL_SUCCESS && changed && !queue->asked_profiling && what == CL_QUEUE_PROPERTIES &&
      to != nullptr) {
    cl_command_queue_properties properties = 0;
    std::memcpy(&properties, to, sizeof properties);
    properties &= ~cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE};
    std::memcpy(to, &properties, sizeof properties);
  }
  return status;
}

}  // namespace fathom::record::opencl
