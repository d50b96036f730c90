#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/string_pool.h"

namespace fathom::trace {

// What a caching allocator tells beyond its memory events: PyTorch's memory snapshots do.

// Number of a stack in AllocatorHistory::stacks; 0 where none is known.
using StackId = std::uint32_t;

struct AllocationStack {
  std::vector<base::StringId> frames;  // innermost first
  bool is_backward = false;            // autograd ran it
};

// A block that was allocated before the recording began.
struct OlderBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  base::StringId site = 0;  // as of MemoryEvent
  StackId stack = 0;
  std::int32_t device_index = -1;
};

// Memory that the allocator took from the device, to cut blocks from.
struct AllocatorSegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::min();  // known to be there since
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();
  std::int32_t device_index = -1;
};

// An allocation that failed.
struct OutOfMemory {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;                   // that were asked for
  std::optional<std::int64_t> device_free;  // that the device had left
  base::StringId site = 0;
  StackId stack = 0;
  std::int32_t device_index = -1;
};

struct AllocatorHistory {
  std::vector<AllocationStack> stacks;  // the first is empty
  std::vector<OlderBlock> older;
  std::vector<AllocatorSegment> segments;
  std::vector<OutOfMemory> failures;  // by time within a device
};

}  // namespace fathom::trace
