#include "scopes/fiber.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "fathom/detail/lanes.h"

namespace fathom::python {

std::uint64_t last_thread = 0;
Fiber* last_fiber = nullptr;

namespace {

// A lane takes some memory. With more tasks in scopes than this, some share one: their figures are
// right, and what is inside of what may be not.
constexpr std::size_t kMostLanes = 256;

// What a thread that ends, which has no GIL, may touch together with others.
struct Shared {
  std::mutex mutex;
  std::vector<Fiber*> fibers;
  std::vector<LateEnd> late;
  std::vector<PyObject*> to_release;  // by whoever has the GIL next
};

// Never destroyed: threads may outlive this library's statics.
Shared& shared() {
  static Shared& all = *new Shared;
  return all;
}

bool has_open_scopes(const Fiber& fiber) {
  return std::any_of(fiber.lanes.begin(), fiber.lanes.end(),
                     [](const auto& lane) { return lane->open > 0; });
}

void forget(Fiber* fiber) {
  std::erase(shared().fibers, fiber);
  delete fiber;
}

// Under the lock, on the fiber's own thread.
void finish_late(Fiber& fiber) {
  auto& late = shared().late;
  for (LateEnd& each : late) {
    if (each.lane->fiber != &fiber) continue;
    if (each.is_measured) detail::leave_at(*each.open, each.end, each.failed);
    close_on(*each.lane);
    shared().to_release.push_back(each.keeper);
    each.lane = nullptr;
  }
  std::erase_if(late, [](const LateEnd& each) { return each.lane == nullptr; });
}

void release_kept() {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(shared().mutex);
    objects.swap(shared().to_release);
  }
  for (PyObject* const object : objects) Py_DECREF(object);
}

// Ends before the profiler's own state of the thread does.
struct ThreadEnd {
  Fiber* fiber = nullptr;
  ~ThreadEnd() {
    if (fiber == nullptr) return;
    const std::lock_guard lock(shared().mutex);
    finish_late(*fiber);
    detail::disown_this_thread();
    fiber->is_alive = false;
    if (!has_open_scopes(*fiber)) forget(fiber);
  }
};
thread_local ThreadEnd thread_end;

// asyncio's own; null until the program has imported it.
struct Asyncio {
  PyObject* running_loop = nullptr;   // _get_running_loop()
  PyObject* current_tasks = nullptr;  // a dict: loop → task, where there is one
  PyObject* current_task = nullptr;   // current_task(loop), where there is none

  bool find() {
    if (running_loop != nullptr) return true;
    PyObject* const modules = PyImport_GetModuleDict();
    PyObject* const events = PyDict_GetItemString(modules, "asyncio.events");
    PyObject* const tasks = PyDict_GetItemString(modules, "asyncio.tasks");
    if (events == nullptr || tasks == nullptr) return false;
    current_tasks = PyObject_GetAttrString(tasks, "_current_tasks");
    if (current_tasks != nullptr && !PyDict_CheckExact(current_tasks)) Py_CLEAR(current_tasks);
    PyErr_Clear();
    current_task = PyObject_GetAttrString(tasks, "current_task");
    running_loop = PyObject_GetAttrString(events, "_get_running_loop");
    PyErr_Clear();  // asyncio is being imported
    return running_loop != nullptr && current_task != nullptr;
  }

  // Tells tasks apart; not to be followed.
  const void* task() {
    if (!find()) return nullptr;
    PyObject* const loop = PyObject_CallNoArgs(running_loop);
    const void* found = nullptr;
    if (loop != nullptr && loop != Py_None) {
      if (current_tasks != nullptr) {
        found = PyDict_GetItemWithError(current_tasks, loop);
      } else if (PyObject* const task = PyObject_CallOneArg(current_task, loop)) {
        if (task != Py_None) found = task;
        Py_DECREF(task);
      }
    }
    Py_XDECREF(loop);
    PyErr_Clear();
    return found;
  }
} asyncio;

Lane& add_lane(Fiber& fiber) {
  auto lane = std::make_unique<Lane>();
  lane->fiber = &fiber;
  lane->number = static_cast<std::uint32_t>(fiber.lanes.size());
  fiber.lanes.push_back(std::move(lane));
  return *fiber.lanes.back();
}

Lane& another_lane(Fiber& fiber) {
  if (!fiber.free.empty()) {
    Lane& lane = *fiber.free.back();
    fiber.free.pop_back();
    return lane;
  }
  return fiber.lanes.size() < kMostLanes ? add_lane(fiber) : *fiber.lanes.back();
}

// Lane 0 if nobody else has it, so that what tasks do one after another is in one timeline.
Lane& lane_of(Fiber& fiber, const void* task) {
  Lane& first = *fiber.lanes.front();
  if (const auto known = fiber.busy.find(task); known != fiber.busy.end()) return *known->second;
  if (first.task == task && !first.is_free()) return first;
  if (first.task == nullptr || first.is_free()) {
    first.task = task;
    first.beneath = task == nullptr ? 0 : first.open;
    return first;
  }
  // What runs outside of all tasks cannot be suspended: it needs no lane to itself, only not that
  // one.
  Lane& lane = another_lane(fiber);
  lane.task = task;
  fiber.busy.insert_or_assign(task, &lane);
  return lane;
}

}  // namespace

Fiber* find_fiber(const PyThreadState* thread) noexcept {
  try {
    if (thread_end.fiber == nullptr) {
      auto fiber = std::make_unique<Fiber>();
      fiber->lane = &add_lane(*fiber);
      const std::lock_guard lock(shared().mutex);
      shared().fibers.push_back(fiber.get());
      thread_end.fiber = fiber.release();
    }
  } catch (...) {
    return nullptr;
  }
  last_thread = thread->id;
  last_fiber = thread_end.fiber;
  return last_fiber;
}

void find_lane(Fiber& fiber, const PyThreadState* thread) noexcept {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  try {
    {
      const std::lock_guard lock(shared().mutex);
      finish_late(fiber);
    }
    release_kept();
    // One that has nothing open is not kept for its task, which may be gone.
    if (fiber.lane->number != 0 && fiber.lane->open == 0) give_lane_back(*fiber.lane);
    fiber.lane = &lane_of(fiber, asyncio.task());
    detail::use_lane(fiber.lane->number);
  } catch (...) {
    fiber.lane = fiber.lanes.front().get();
  }
  fiber.version = thread->context_ver;
  PyErr_Restore(type, value, traceback);
}

void give_lane_back(Lane& lane) noexcept {
  Fiber& fiber = *lane.fiber;
  const auto known = fiber.busy.find(lane.task);
  if (known == fiber.busy.end() || known->second != &lane) return;  // it was
  fiber.busy.erase(known);
  lane.beneath = 0;
  try {
    fiber.free.push_back(&lane);
  } catch (...) {
    return;  // it is not used again
  }
  fiber.version = UINT64_MAX;  // the task looks for one if it goes on
}

void end_elsewhere(const LateEnd& late) noexcept {
  try {
    const std::lock_guard lock(shared().mutex);
    Fiber* const fiber = late.lane->fiber;
    if (fiber->is_alive) {
      Py_INCREF(late.keeper);
      shared().late.push_back(late);
      fiber->version = UINT64_MAX;  // so that it looks
      return;
    }
    --late.lane->open;
    if (!has_open_scopes(*fiber)) forget(fiber);
  } catch (...) {
    return;
  }
}

// In the child there is one thread; the fibers of the others are those of threads that ended.
void watch_forks() noexcept {
  pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); },
                 [] {
                   shared().late.clear();
                   for (Fiber* const fiber : shared().fibers) {
                     if (fiber != thread_end.fiber) fiber->is_alive = false;
                   }
                   shared().mutex.unlock();
                 });
}

}  // namespace fathom::python
