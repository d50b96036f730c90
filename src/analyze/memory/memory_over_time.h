#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/memory/memory.h"

namespace fathom::analyze {

// Who had how much at some moments: of each of many equal stretches of the recording the highest
// level and the last, so that the peak is one of them.
struct MemoryOverTime {
  static constexpr std::uint32_t kOlder = UINT32_MAX;

  // Who allocated, as in MemoryUse. Most bytes at a moment first.
  struct Owner {
    std::string scope;
    std::string call;
  };
  // Bytes at each moment, of the first owners; of all others together; in no known block; by what
  // they are for (empty where unknown); and what is reserved and unused.
  struct Unused {
    std::vector<std::int64_t> free_segments;
    std::vector<std::int64_t> holes;
  };
  struct Role {
    MemoryRole role = MemoryRole::other;
    std::vector<std::int64_t> bytes;
  };
  // An allocation that is alive at the moments [from, to): by number, for times may be the same.
  // One that lasts to the end has no end; those that no moment sees are left out.
  struct Block {
    std::uint32_t owner = 0;  // kOlder: from before the recording, and nobody knows whose
    trace::StackId stack = 0;
    std::int64_t bytes = 0;
    std::size_t from = 0;
    std::optional<std::size_t> to;
    std::optional<MemoryRole> role;
  };

  std::vector<std::size_t> moments;  // levels of the device
  std::vector<Owner> owners;
  std::vector<std::vector<std::int64_t>> of_owners;  // of the first of them
  std::vector<std::int64_t> of_others;
  std::vector<std::int64_t> older;
  std::vector<Role> of_roles;
  std::optional<Unused> unused;  // where it is known at every moment
  // What the allocator had reserved beyond what was allocated, where its levels tell and its
  // segments do not; else empty. Unknown before the first that tells.
  std::vector<std::optional<std::int64_t>> spare;
  std::vector<Block> blocks;  // the largest, by when they were allocated
  std::uint64_t left_out_blocks = 0;
};

MemoryOverTime memory_over_time(const trace::Trace& trace, const Memory& memory,
                                const DeviceMemory& device);

}  // namespace fathom::analyze
