#pragma once

#include <vector>

#include "analyze/memory/memory.h"

namespace fathom::analyze {

// What each block of a device is for, in their order; empty where nothing tells (MemoryRole). Needs
// levels and blocks.
std::vector<MemoryRole> memory_roles(const trace::Trace& trace, const DeviceMemory& device);

// What was alive at a level by what it is for, most bytes first. Bytes of the level that are in no
// block are left out.
std::vector<RoleUse> role_uses(const DeviceMemory& device, const std::vector<MemoryRole>& roles,
                               std::size_t level);

// "weights", "optimizer state", …
std::string_view role_name(MemoryRole role);

}  // namespace fathom::analyze
