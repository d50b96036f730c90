#pragma once

#include <atomic>
#include <string>

#include "profiler/thread_state.h"

namespace fathom::detail {

// A scope that Profiler::profile began. The thread and the handle own it together, because either
// may be gone before the other.
struct FreeScope {
  OpenScope open{};
  pthread_t thread = pthread_self();
  std::string annotations;              // for its end
  std::atomic<bool> abandoned = false;  // ended on another thread: its own is to close it
  std::atomic<bool> orphaned = false;   // its thread, or its profiler, is gone
};

}  // namespace fathom::detail
