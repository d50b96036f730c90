// Entry points that make and release queues. Host queues are made to stamp their commands; that
// the program did not ask for it is kept, and queries.cpp answers accordingly.

#include "record/opencl/queue_calls.h"

#include "record/opencl/calls.h"
#include "record/opencl/commands_in_flight.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/poller.h"

namespace fathom::record::opencl {
namespace {

using Properties = std::vector<cl_queue_properties>;

// The list as given, final 0 included; empty where there is none.
Properties as_given(const cl_queue_properties* given) {
  Properties list;
  if (given == nullptr) return list;
  for (; *given != 0; given += 2) list.insert(list.end(), given, given + 2);
  list.push_back(0);
  return list;
}

struct Wanted {
  Properties list;      // with profiling, final 0 included
  bool forced = false;  // it would not have been there
};

Wanted with_profiling(const Properties& given) {
  Wanted wanted;
  bool named = false;
  for (std::size_t i = 0; i + 1 < given.size(); i += 2) {
    cl_queue_properties value = given[i + 1];
    if (given[i] == CL_QUEUE_PROPERTIES) {
      named = true;
      const bool on_device = (value & CL_QUEUE_ON_DEVICE) != 0;
      wanted.forced = !on_device && (value & CL_QUEUE_PROFILING_ENABLE) == 0;
      if (wanted.forced) value |= CL_QUEUE_PROFILING_ENABLE;
    }
    wanted.list.insert(wanted.list.end(), {given[i], value});
  }
  if (!named) {
    wanted.forced = true;
    wanted.list.insert(wanted.list.end(), {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE});
  }
  wanted.list.push_back(0);
  return wanted;
}

}  // namespace

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties* properties,
                                                          cl_int* error) {
  return create_profiled_queue(driver.clCreateCommandQueueWithProperties,
                               "clCreateCommandQueueWithProperties", context, device, properties,
                               error);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
  cl_int status = CL_SUCCESS;
  bool forced = (properties & CL_QUEUE_PROFILING_ENABLE) == 0;
  cl_command_queue queue = timed(
      Kind::call, "clCreateCommandQueue",
      [&] {
        return driver.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE,
                                           &status);
      },
      &status);
  if (queue == nullptr && forced) {  // the error must be that of what the program asked for
    forced = false;
    queue = driver.clCreateCommandQueue(context, device, properties, &status);
  }
  if (error != nullptr) *error = status;
  if (queue != nullptr) add_queue(queue, {}, forced);
  ensure_poller();
  return queue;
}

// Events that we hold keep their queue alive: it should go when the program lets it go.
cl_int CL_API_CALL release_queue(cl_command_queue handle) {
  if (Queue* const queue = find_queue(handle); queue != nullptr) drain(*queue);
  return timed(Kind::call, "clReleaseCommandQueue",
               [&] { return driver.clReleaseCommandQueue(handle); });
}

cl_int CL_API_CALL release_context(cl_context context) {
  drain_all();
  return timed(Kind::call, "clReleaseContext", [&] { return driver.clReleaseContext(context); });
}

// The program may switch profiling on and off where the driver lets it; it stays on underneath.
cl_int CL_API_CALL set_queue_property(cl_command_queue handle,
                                      cl_command_queue_properties properties, cl_bool enable,
                                      cl_command_queue_properties* old) {
  Queue* const queue = find_queue(handle);
  const bool hides = queue != nullptr && queue->forced && !queue->asked_profiling;
  const bool switches = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  cl_int status = CL_SUCCESS;
  if (queue == nullptr || !switches || enable != CL_FALSE) {
    status = driver.clSetCommandQueueProperty(handle, properties, enable, old);
  } else if (const auto rest = properties & ~cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE};
             rest != 0) {
    status = driver.clSetCommandQueueProperty(handle, rest, enable, old);
  } else {
    status = driver.clSetCommandQueueProperty(handle, properties, CL_TRUE, old);
  }
  if (status != CL_SUCCESS || queue == nullptr) return status;
  if (old != nullptr && hides) *old &= ~cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE};
  if (switches) {
    queue->asked_profiling = enable != CL_FALSE;
    queue->forced = true;
    queue->profiles = true;
  }
  return status;
}

cl_command_queue create_profiled_queue(CreateQueue create, const char* api, cl_context context,
                                       cl_device_id device, const cl_queue_properties* properties,
                                       cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_command_queue queue = nullptr;
  bool forced = false;
  Properties given;
  try {
    given = as_given(properties);
    const Wanted wanted = with_profiling(given);
    forced = wanted.forced;
    if (forced) {
      queue = timed(
          Kind::call, api, [&] { return create(context, device, wanted.list.data(), &status); },
          &status);
    }
  } catch (const std::bad_alloc&) {  // then without
    forced = false;
  }
  if (queue == nullptr) {  // as asked; the error, too, must be that of what the program asked for
    forced = false;
    queue = timed(
        Kind::call, api, [&] { return create(context, device, properties, &status); }, &status);
  }
  if (error != nullptr) *error = status;
  if (queue != nullptr) add_queue(queue, std::move(given), forced);
  ensure_poller();
  return queue;
}

}  // namespace fathom::record::opencl
