#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "profiler/thread_state.h"

namespace fathom::detail {

// A scope that Profiler::profile began. The thread and the handle own it together, because either
// may be gone before the other.
struct FreeScope {
  OpenScope open{};
  pthread_t thread = pthread_self();
  std::string annotations;  // for its end
  std::atomic<bool> failed = false;

  // Who ends it. Its own thread may where it is the thread's; the rest is under live_scopes().
  enum class Keeper : std::uint8_t {
    thread,   // the one that began it
    closing,  // the same, but another has ended it already, at `end`
    anyone,   // the thread is gone: who ends it acts for it
    nobody,   // the profiler is gone, or it was the parent's of this forked process
  };
  std::atomic<Keeper> keeper = Keeper::thread;
  std::uint64_t end = 0;  // ticks
};

// Taken by a thread that ends another's scope, by threads and profilers that go.
std::mutex& live_scopes();

// Scopes that other threads have ended, which could not touch this one's chain. For the thread
// itself, or whoever acts for one that is gone.
void close_abandoned(ThreadState& thread) noexcept;
// On all lanes of the calling thread.
void close_abandoned_here(Core& core) noexcept;

}  // namespace fathom::detail
