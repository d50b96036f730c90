#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "fathom/activity.h"

namespace fathom::record::cuda {

// Who made a CUDA call.
struct LaunchOrigin {
  ScopeRef scope;
  std::optional<std::int64_t> thread;
};

// Remembers by whom each call was made until the records of what it launched come in. A call's
// correlation id is on all of them, on every kernel of a graph too. Holds the newest 65,536 calls
// that can launch something; an older one is forgotten, never mistaken. Any thread.
class LaunchLinks {
 public:
  LaunchLinks() : slots_(kSlots) {}

  void note(std::uint32_t correlation, const LaunchOrigin& launch);
  void note_scope(std::uint32_t correlation, ScopeRef scope);  // a thread noted before stays
  LaunchOrigin find(std::uint32_t correlation);                // empty where nothing is known

 private:
  struct Slot {
    std::uint32_t correlation = 0;  // CUPTI counts from 1
    LaunchOrigin launch;
  };
  static constexpr std::size_t kSlots = 65'536;
  static constexpr std::size_t kLocks = 64;

  std::mutex& lock_of(std::uint32_t correlation) { return locks_[correlation % kLocks]; }
  Slot& slot_of(std::uint32_t correlation) { return slots_[correlation % kSlots]; }

  // Ids count up over all threads, so neighbours in time never share a slot and seldom a lock.
  std::vector<Slot> slots_;
  std::array<std::mutex, kLocks> locks_;
};

}  // namespace fathom::record::cuda
