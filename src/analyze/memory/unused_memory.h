#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/memory/memory.h"

namespace fathom::analyze {

// What is reserved and unused, and fragmentation, of a device whose levels and blocks are known.
void find_unused(const trace::Trace& trace, DeviceMemory& device);

// Free segments and holes at some of the levels, which are ascending: bytes, and nothing where they
// cannot be known (UnusedMemory).
struct UnusedAt {
  std::int64_t free_segment_bytes = 0;
  std::int64_t hole_bytes = 0;
};
std::vector<std::optional<UnusedAt>> unused_at(const trace::Trace& trace,
                                               const DeviceMemory& device,
                                               const std::vector<std::size_t>& levels);

}  // namespace fathom::analyze
