#include "record/opencl/queues.h"

#include <deque>

#include "record/opencl/driver.h"
#include "record/opencl/forever.h"
#include "record/opencl/handle_map.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {
namespace {

struct Queues {
  std::mutex lock;
  std::deque<Queue> all;  // never shrinks, so its elements stay where they are
  std::int32_t count = 0;
  HandleMap<Queue*> by_handle;
};

Forever<Queues> queues;

bool is_idle(Queue& queue) {
  const std::lock_guard guard(queue.lock);
  return queue.first == nullptr && !queue.draining.test();
}

// An object for a new queue: one whose handle has since been given to another, or a new one.
Queue* object_for(cl_command_queue handle) {
  Queue* const old = queues->by_handle.find(handle);
  if (old != nullptr && is_idle(*old)) return old;
  return &queues->all.emplace_back();
}

void ask_driver(Queue& queue) noexcept {
  cl_command_queue_properties properties = 0;
  cl_device_id device = nullptr;
  ask(driver.clGetCommandQueueInfo, queue.handle, CL_QUEUE_PROPERTIES, properties);
  ask(driver.clGetCommandQueueInfo, queue.handle, CL_QUEUE_DEVICE, device);
  queue.device = device_of(device);
  queue.out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  queue.on_device = (properties & CL_QUEUE_ON_DEVICE) != 0;
  queue.profiles = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

}  // namespace

Queue* add_queue(cl_command_queue handle, std::vector<cl_queue_properties> given,
                 bool forced) noexcept {
  try {
    const std::lock_guard guard(queues->lock);
    Queue* const queue = object_for(handle);
    queue->handle = handle;
    queue->index = queues->count++;
    queue->given = std::move(given);
    queue->forced = forced;
    ask_driver(*queue);
    if (queue->device == nullptr) return nullptr;
    queue->asked_profiling = queue->profiles && !forced;
    queues->by_handle.set(handle, queue);
    return queue;
  } catch (...) {
    lost(Unrecorded::no_memory);
    return nullptr;
  }
}

Queue* find_queue(cl_command_queue handle) noexcept {
  Queue* const known = queues->by_handle.find(handle);
  if (known != nullptr) [[likely]]
    return known;
  cl_context context = nullptr;
  if (handle == nullptr ||
      ask(driver.clGetCommandQueueInfo, handle, CL_QUEUE_CONTEXT, context) != CL_SUCCESS) {
    return nullptr;
  }
  return add_queue(handle, {}, false);
}

Queue* queue_of(cl_event event) noexcept {
  cl_command_queue handle = nullptr;  // a user event has none
  const cl_int asked = ask(driver.clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE, handle);
  return asked == CL_SUCCESS && handle != nullptr ? find_queue(handle) : nullptr;
}

Queue* queue_at(std::size_t i) noexcept {
  const std::lock_guard guard(queues->lock);
  return i < queues->all.size() ? &queues->all[i] : nullptr;
}

void lock_queues() noexcept {
  queues->lock.lock();
  queues->by_handle.lock();
  for (Queue& queue : queues->all) queue.lock.lock();
}

void unlock_queues(bool in_child) noexcept {
  for (Queue& queue : queues->all) {
    if (in_child) {  // what is in flight is the parent's
      queue.first = queue.last = nullptr;
      queue.in_flight = queue.since_drain = 0;
      queue.draining.clear();
    }
    queue.lock.unlock();
  }
  queues->by_handle.unlock();
  queues->lock.unlock();
}

}  // namespace fathom::record::opencl
