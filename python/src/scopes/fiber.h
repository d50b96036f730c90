#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fathom/detail/fixed_scope.h"

// Where a scope of Python belongs: to its thread, and there to its asyncio task. All of it is
// called with the GIL held, except where it says otherwise.
namespace fathom::python {

struct Fiber;

// push() and pop() of one lane. Open scopes must not move, so they live in chunks.
class PushStack {
 public:
  struct Pushed {
    detail::OpenScope open;
    bool is_measured;
  };
  Pushed& push() {
    if (count_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<Pushed[]>(kChunk));
    Pushed& place = at(count_);
    ++count_;
    return place;
  }
  bool empty() const { return count_ == 0; }
  Pushed& pop() { return at(--count_); }

 private:
  static constexpr std::size_t kChunk = 32;
  Pushed& at(std::size_t place) { return chunks_[place / kChunk][place % kChunk]; }
  std::vector<std::unique_ptr<Pushed[]>> chunks_;
  std::size_t count_ = 0;
};

// A lane of the profiler (fathom/detail/lanes.h), and the task that has it. Scopes that were open
// on it when the task got it are around the task: `with scope("all"): asyncio.run(…)`.
struct Lane {
  Fiber* fiber = nullptr;
  const void* task = nullptr;  // null: the thread itself
  std::size_t open = 0;        // scopes
  std::size_t beneath = 0;     // of these, opened before the task got it
  std::uint32_t number = 0;
  PushStack pushed = {};

  bool is_free() const { return open <= beneath; }
};

// What Python knows of one thread.
struct Fiber {
  std::uint64_t version = UINT64_MAX;  // of the thread's context, when the lane was looked up
  Lane* lane = nullptr;                // of the task that runs
  bool is_alive = true;                // the thread is; changed under the lock of fiber.cpp
  std::vector<std::unique_ptr<Lane>> lanes = {};
  std::vector<Lane*> free = {};  // none of lane 0
  std::unordered_map<const void*, Lane*> busy = {};
};

// A scope that ends on another thread than it began on. `keeper` owns its memory.
struct LateEnd {
  detail::OpenScope* open;
  std::uint64_t end;
  bool failed;
  bool is_measured;
  Lane* lane;
  PyObject* keeper;
};

extern std::uint64_t last_thread;  // by PyThreadState.id; 0 is none
extern Fiber* last_fiber;

Fiber* find_fiber(const PyThreadState* thread) noexcept;  // null: out of memory
void find_lane(Fiber& fiber, const PyThreadState* thread) noexcept;
void give_lane_back(Lane& lane) noexcept;  // when nothing is open on it
void end_elsewhere(const LateEnd& late) noexcept;
void watch_forks() noexcept;  // once

inline Fiber* this_fiber(const PyThreadState* thread) noexcept {
  if (thread->id == last_thread) [[likely]]
    return last_fiber;
  return find_fiber(thread);
}

// The lane that a scope begins on now; null: out of memory.
inline Lane* this_lane() noexcept {
  const PyThreadState* const thread = PyThreadState_Get();
  Fiber* const fiber = this_fiber(thread);
  if (fiber == nullptr) [[unlikely]]
    return nullptr;
  // Each step of a task runs in its context, and each change of contexts counts up.
  if (thread->context_ver != fiber->version) [[unlikely]]
    find_lane(*fiber, thread);
  return fiber->lane;
}

// After a scope on it has ended, on its own thread.
inline void close_on(Lane& lane) noexcept {
  if (--lane.open == 0 && lane.number != 0) [[unlikely]]
    give_lane_back(lane);
}

}  // namespace fathom::python
