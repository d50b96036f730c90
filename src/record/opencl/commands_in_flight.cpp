#include "record/opencl/commands_in_flight.h"

#include <new>
#include <thread>

#include "record/opencl/driver.h"
#include "record/opencl/forever.h"
#include "record/opencl/memory.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {
namespace {

constexpr std::uint32_t kNodesAtOnce = 32;
constexpr std::uint32_t kDrainEvery = 64;    // commands of a queue
constexpr std::uint32_t kDrainAtMost = 256;  // at a call of the program, to keep it short
constexpr std::uint32_t kNoLimit = UINT32_MAX;
constexpr std::int64_t kHardDrainEveryNs = 5'000'000;

struct Pool {
  std::mutex lock;
  Pending* spare = nullptr;
  std::uint32_t made = 0;
  std::atomic<std::int64_t> hard_drain_ns = 0;
};

Forever<Pool> pool;

void push(Pending*& list, Pending* node) {
  node->next = list;
  list = node;
}

// Some nodes for a queue's spare list; false where there are no more.
bool fetch_nodes(Queue& queue) noexcept {
  const std::lock_guard guard(pool->lock);
  if (pool->spare == nullptr) {
    if (pool->made + kNodesAtOnce > kMaxInFlight) return false;
    auto* const nodes = new (std::nothrow) Pending[kNodesAtOnce];
    if (nodes == nullptr) return false;
    pool->made += kNodesAtOnce;
    for (std::uint32_t i = 0; i < kNodesAtOnce; ++i) push(pool->spare, &nodes[i]);
  }
  for (std::uint32_t i = 0; i < kNodesAtOnce && pool->spare != nullptr; ++i) {
    Pending* const node = pool->spare;
    pool->spare = node->next;
    push(queue.spare, node);
  }
  return true;
}

void give_back_nodes(Queue& queue) noexcept {
  const std::lock_guard guard(pool->lock);
  while (queue.spare != nullptr) {
    Pending* const node = queue.spare;
    queue.spare = node->next;
    push(pool->spare, node);
  }
}

void append(Queue& queue, Pending* node) noexcept {
  node->next = nullptr;
  (queue.last == nullptr ? queue.first : queue.last->next) = node;
  queue.last = node;
  ++queue.in_flight;
}

Pending* take_first(Queue& queue) noexcept {
  Pending* const node = queue.first;
  queue.first = node->next;
  if (queue.first == nullptr) queue.last = nullptr;
  --queue.in_flight;
  return node;
}

// CL_COMPLETE, an error, or above 0 while it is not over.
cl_int status_of(cl_event event) noexcept {
  cl_int status = CL_COMPLETE;
  const cl_int asked = ask(driver.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, status);
  return asked == CL_SUCCESS ? status : asked;
}

// Takes out at most `limit` commands that are over, in order. On an out-of-order queue, what was
// looked at and is still running goes to the end, so that the next look begins behind it.
Pending* take_finished(Queue& queue, std::uint32_t limit) noexcept {
  const std::lock_guard guard(queue.lock);
  queue.since_drain = 0;
  Pending* first = nullptr;
  Pending** end = &first;
  for (std::uint32_t left = std::min(limit, queue.in_flight); left > 0; --left) {
    const cl_int status = status_of(queue.first->launch.event);
    if (status > CL_COMPLETE && !queue.out_of_order) break;
    Pending* const node = take_first(queue);
    if (status > CL_COMPLETE) {
      append(queue, node);
      continue;
    }
    node->command.status = status;
    node->next = nullptr;
    *end = node;
    end = &node->next;
  }
  return first;
}

bool read_stamp(cl_event event, cl_profiling_info which, std::int64_t& stamp) noexcept {
  cl_ulong value = 0;
  if (ask(driver.clGetEventProfilingInfo, event, which, value) != CL_SUCCESS) return false;
  stamp = static_cast<std::int64_t>(value);
  return true;
}

// Fills in the times. False where the driver has none to give.
bool stamp(Queue& queue, Pending& pending, std::int64_t seen_ns) noexcept {
  QueuedCommand& command = pending.command;
  const Launch& launch = pending.launch;
  if (command.status < 0) {
    command.queued_ns = command.submit_ns = launch.call_begin_ns;
    command.start_ns = command.end_ns = seen_ns;
    return true;
  }
  if (!queue.profiles ||
      !read_stamp(launch.event, CL_PROFILING_COMMAND_QUEUED, command.queued_ns) ||
      !read_stamp(launch.event, CL_PROFILING_COMMAND_SUBMIT, command.submit_ns) ||
      !read_stamp(launch.event, CL_PROFILING_COMMAND_START, command.start_ns) ||
      !read_stamp(launch.event, CL_PROFILING_COMMAND_END, command.end_ns)) {
    return false;
  }
  const std::int64_t offset = queue.device->clock.offset_ns(
      queue.device->handle,
      {launch.call_begin_ns, launch.call_end_ns, seen_ns, command.queued_ns, command.end_ns});
  command.queued_ns += offset;
  command.submit_ns += offset;
  command.start_ns += offset;
  command.end_ns += offset;
  return true;
}

// Hands over commands that are over, and gives their nodes back to the queue.
void hand_over(Queue& queue, Pending* done) noexcept {
  const std::int64_t seen_ns = now_ns();
  {
    const std::lock_guard guard(queue.device->clock_lock);
    for (Pending* node = done; node != nullptr; node = node->next) {
      if (stamp(queue, *node, seen_ns)) continue;
      node->command.end_ns = 0;
    }
  }
  Pending* last = done;
  for (Pending* node = done; node != nullptr; node = node->next) {
    QueuedCommand& command = node->command;
    const Launch& launch = node->launch;
    if (command.end_ns != 0) {
      command.queue = queue.index;
      command.device = queue.device->index;
      command.thread = launch.thread;
      command.scope = launch.scope;
      command.correlation = launch.correlation;
      finished(command);
    } else {
      lost(Unrecorded::no_timestamps);
    }
    if (launch.frees != nullptr) {
      report_frees(launch.frees, command.end_ns != 0 ? command.end_ns : seen_ns);
    }
    driver.clReleaseEvent(launch.event);
    last = node;
  }
  const std::lock_guard guard(queue.lock);
  last->next = queue.spare;
  queue.spare = done;
}

void drain(Queue& queue, std::uint32_t limit) noexcept {
  if (queue.draining.test_and_set(std::memory_order_acquire)) return;
  if (Pending* const done = take_finished(queue, limit); done != nullptr) hand_over(queue, done);
  queue.draining.clear(std::memory_order_release);
}

void give_back_if_unused(Queue& queue) noexcept {
  const std::lock_guard guard(queue.lock);
  if (!queue.used && queue.spare != nullptr) give_back_nodes(queue);
  queue.used = false;
}

}  // namespace

bool has_room(Queue& queue) noexcept {
  if (!queue.full.load(std::memory_order_relaxed)) [[likely]]
    return true;
  const std::int64_t now = now_ns();
  if (now - pool->hard_drain_ns.load(std::memory_order_relaxed) > kHardDrainEveryNs) {
    pool->hard_drain_ns.store(now, std::memory_order_relaxed);
    drain_all();
  }
  const std::lock_guard guard(queue.lock);
  queue.full.store(queue.spare == nullptr && !fetch_nodes(queue), std::memory_order_relaxed);
  if (queue.full.load(std::memory_order_relaxed)) lost(Unrecorded::too_many);
  return !queue.full.load(std::memory_order_relaxed);
}

void take_in(Queue& queue, const QueuedCommand& command, const Launch& launch) noexcept {
  bool due = false;
  {
    const std::lock_guard guard(queue.lock);
    if (queue.spare != nullptr || fetch_nodes(queue)) [[likely]] {
      Pending* const node = queue.spare;
      queue.spare = node->next;
      node->command = command;
      node->launch = launch;
      append(queue, node);
      queue.used = true;
      due = ++queue.since_drain >= kDrainEvery;
    } else {
      queue.full.store(true, std::memory_order_relaxed);
    }
  }
  if (due) {
    drain(queue, kDrainAtMost);
  } else if (queue.full.load(std::memory_order_relaxed)) [[unlikely]] {
    lost(Unrecorded::too_many);
    if (launch.frees != nullptr) report_frees(launch.frees, launch.call_end_ns);
    driver.clReleaseEvent(launch.event);
  }
}

void drain(Queue& queue) noexcept {
  drain(queue, kNoLimit);
}

void drain_all() noexcept {
  for (std::size_t i = 0; Queue* const queue = queue_at(i); ++i) {
    drain(*queue, kNoLimit);
    give_back_if_unused(*queue);
  }
}

cl_int reference_count(cl_event event, cl_uint& count) noexcept {
  const auto ask_driver = [&] {
    return ask(driver.clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT, count);
  };
  Queue* const queue = queue_of(event);
  if (queue == nullptr) return ask_driver();
  drain(*queue);
  // While we drain, a reference may be ours and not in the list any more: wait until it is either
  // there or gone. Not for ever: the question may come from inside a callback of the drain.
  for (int i = 0; i < 1000 && queue->draining.test_and_set(std::memory_order_acquire); ++i) {
    std::this_thread::yield();
  }
  cl_uint ours = 0;
  const std::lock_guard guard(queue->lock);
  for (const Pending* node = queue->first; node != nullptr; node = node->next) {
    ours += node->launch.event == event ? 1 : 0;
  }
  const cl_int status = ask_driver();
  queue->draining.clear(std::memory_order_release);
  if (status == CL_SUCCESS && count > ours) count -= ours;
  return status;
}

void lock_commands_in_flight() noexcept {
  pool->lock.lock();
}

void unlock_commands_in_flight() noexcept {
  pool->lock.unlock();
}

}  // namespace fathom::record::opencl
