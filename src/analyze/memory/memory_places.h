#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// Who allocated, as memory.h defines it.
struct MemoryPlace {
  std::string_view scope;
  std::string_view call;
};

// The places of these memory events (indices into trace.memory), in their order.
std::vector<MemoryPlace> memory_places(const trace::Trace& trace,
                                       const std::vector<std::uint32_t>& events);

}  // namespace fathom::analyze
