#pragma once

#include "record/opencl/calls.h"
#include "record/opencl/commands_in_flight.h"
#include "record/opencl/poller.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {

// What an enqueue adds to the queue, as far as the call itself says.
struct Enqueued {
  const char* api = "";
  QueuedCommand command;
  bool blocking = false;
  FreedMemory* frees = nullptr;
};

inline Enqueued copy(const char* api, const char* name, CopyDirection direction, std::size_t bytes,
                     cl_bool blocking = CL_FALSE) {
  return {.api = api,
          .command = {.kind = Kind::copy, .direction = direction, .name = name, .bytes = bytes},
          .blocking = blocking != CL_FALSE};
}

// After the driver has been called: records the call, and follows the command to its end. The
// reference to `event` is ours.
void follow(Queue* queue, const Enqueued& what, cl_event event, std::int64_t begin_ns,
            cl_int status) noexcept;

// Calls call(event*), which enqueues on `handle` and returns what the program gets. An event is
// asked for where the program does not want one; the program's own is retained. `error` is where
// the call leaves its error code, unless it returns it.
template <typename Call>
auto enqueue(cl_command_queue handle, const Enqueued& what, cl_event* event, Call call,
             const cl_int* error = nullptr) {
  Queue* queue = find_queue(handle);
  if (queue != nullptr && !has_room(*queue)) [[unlikely]]
    queue = nullptr;
  cl_event own = nullptr;
  cl_event* const wanted = event != nullptr || queue == nullptr ? event : &own;
  const std::int64_t begin_ns = now_ns();
  const auto result = call(wanted);
  cl_int status = CL_SUCCESS;
  if constexpr (std::is_same_v<decltype(result), const cl_int>) {
    status = result;
  } else if (error != nullptr) {
    status = *error;
  }
  cl_event held = nullptr;
  if (status == CL_SUCCESS && queue != nullptr) {
    held = *wanted;
    if (event != nullptr && driver.clRetainEvent(held) != CL_SUCCESS) held = nullptr;
  }
  follow(queue, what, held, begin_ns, status);
  return result;
}

// Calls call(event*, error*), which maps an object and returns its address.
template <typename Call>
void* enqueue_map(cl_command_queue handle, const char* api, const char* name, cl_bool blocking,
                  cl_event* event, cl_int* error, Call call) {
  const Enqueued what = {
      .api = api, .command = {.kind = Kind::map, .name = name}, .blocking = blocking != CL_FALSE};
  cl_int status = CL_SUCCESS;
  void* const mapped = enqueue(
      handle, what, event, [&](cl_event* out) { return call(out, &status); }, &status);
  if (error != nullptr) *error = status;
  return mapped;
}

}  // namespace fathom::record::opencl
