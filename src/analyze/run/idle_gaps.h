#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// A stretch between two pieces of GPU work in which no GPU worked, and what the host did meanwhile.
struct GpuGap {
  base::Interval time;
  // The operation with the most self time in it on any thread, and how much that is. Empty where
  // nothing was recorded. Lives as long as the trace.
  std::string_view host;
  std::int64_t host_ns = 0;
};

// The `top` longest, longest first. Time before the first work and after the last is not a gap.
std::vector<GpuGap> idle_gaps(const trace::Trace& trace, std::size_t top);

}  // namespace fathom::analyze
