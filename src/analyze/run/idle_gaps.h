#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// A stretch of the run in which no GPU worked, and what the host did meanwhile.
struct GpuGap {
  base::Interval time;
  // The operation with the most self time in it on any thread, and how much that is. Empty where
  // less than half of the gap lies within anything that was recorded of the host: then the truth is
  // that nothing was. Lives as long as the trace.
  std::string_view host;
  std::int64_t host_ns = 0;
};

// The `top` longest, longest first. Time before the first work and after the last counts, within
// the run's `life`. None where there is no GPU work.
std::vector<GpuGap> idle_gaps(const trace::Trace& trace, base::Interval life, std::size_t top);

// Spans of threads that say what the host did: not work of a GPU, nor frames of no known kind.
bool tells_of_host(trace::SpanKind kind);

}  // namespace fathom::analyze
