// The global profiler: there from the first scope, and never destroyed.
#include <cstdio>
#include <cstdlib>

#include "profiler/core.h"

namespace fathom {
namespace detail {

// On before anything has run, so that the first scope finds its way to make_global_core.
constinit std::atomic<std::uint64_t> global_generation = 1;

namespace {

std::atomic<Core*> existing_core = nullptr;

// Runs after the program's own statics are gone, even where the library was loaded late (by a layer
// that an OpenCL loader opened): the run file has what they did, too. The profiler itself goes on.
[[gnu::destructor]] void stop_recording_at_exit() {
  if (Core* const core = existing_core.load(std::memory_order_acquire)) core->stop_recording();
}

std::shared_ptr<Core> make_global_core() noexcept {
  try {
    auto core = std::make_shared<Core>(Options{}, &global_generation);
    core->start_recording_from_environment();
    existing_core.store(core.get(), std::memory_order_release);
    std::at_quick_exit(stop_recording_at_exit);
    return core;
  } catch (...) {
    global_generation.store(0, std::memory_order_relaxed);
    return nullptr;
  }
}

// What a function-local static does, except that a child forked meanwhile finds it made: the guard
// of such a static would be held there for ever, by a thread that the child has not.
template <typename T, typename Make>
T& made_once(std::atomic<T*>& made, Make&& make) noexcept {
  if (T* const known = made.load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(global_core_mutex);
  T* all = made.load(std::memory_order_relaxed);
  if (all == nullptr) {
    all = make();
    made.store(all, std::memory_order_release);
  }
  return *all;
}

}  // namespace

constinit std::mutex global_core_mutex;

const std::shared_ptr<Core>& global_core() noexcept {
  alignas(std::shared_ptr<Core>) static unsigned char place[sizeof(std::shared_ptr<Core>)];
  constinit static std::atomic<std::shared_ptr<Core>*> made = nullptr;
  return made_once(made, [] { return new (place) std::shared_ptr<Core>(make_global_core()); });
}

}  // namespace detail

Profiler& profiler() noexcept {
  alignas(Profiler) static unsigned char place[sizeof(Profiler)];
  constinit static std::atomic<Profiler*> made = nullptr;
  const auto& core = detail::global_core();
  return detail::made_once(made, [&] { return new (place) Profiler(core); });
}

}  // namespace fathom
