// Waiting, and the commands that order others.

#include "record/opencl/enqueue.h"
#include "record/opencl/entry_points.h"

namespace fathom::record::opencl {
namespace {

Enqueued marker(const char* api, const char* name) {
  return {.api = api, .command = {.kind = Kind::marker, .name = name}};
}

}  // namespace

cl_int CL_API_CALL finish(cl_command_queue handle) {
  const cl_int status = timed(Kind::sync, "clFinish", [&] { return driver.clFinish(handle); });
  if (Queue* const queue = find_queue(handle); queue != nullptr) drain(*queue);
  return status;
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  // Whose events they are is asked before: a callback may release them meanwhile.
  Queue* const queue = count > 0 && events != nullptr ? queue_of(events[count - 1]) : nullptr;
  const cl_int status =
      timed(Kind::sync, "clWaitForEvents", [&] { return driver.clWaitForEvents(count, events); });
  if (queue != nullptr) drain(*queue);
  return status;
}

cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_event* event) {
  // Without an event it is an error: the driver is to say so.
  if (event == nullptr) return driver.clEnqueueMarker(queue, event);
  return enqueue(queue, marker("clEnqueueMarker", "Marker"), event,
                 [&](cl_event* out) { return driver.clEnqueueMarker(queue, out); });
}

cl_int CL_API_CALL enqueue_marker_with_wait_list(cl_command_queue queue, cl_uint wait_count,
                                                 const cl_event* wait, cl_event* event) {
  return enqueue(queue, marker("clEnqueueMarkerWithWaitList", "Marker"), event, [&](cl_event* out) {
    return driver.clEnqueueMarkerWithWaitList(queue, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_barrier_with_wait_list(cl_command_queue queue, cl_uint wait_count,
                                                  const cl_event* wait, cl_event* event) {
  return enqueue(queue, marker("clEnqueueBarrierWithWaitList", "Barrier"), event,
                 [&](cl_event* out) {
                   return driver.clEnqueueBarrierWithWaitList(queue, wait_count, wait, out);
                 });
}

}  // namespace fathom::record::opencl
