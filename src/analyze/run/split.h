#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What a stretch of time was spent on. Every instant belongs to the first that holds: a kernel or
// fill runs on any GPU → gpu; a copy runs → transfer; a thread is inside a call of the GPU runtime,
// or waits for the GPU → overhead; else → cpu. So the four add up to the stretch's length. It is
// the rule by which the profiler parts a scope's time, applied to the whole machine.
struct Split {
  std::int64_t gpu_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t overhead_ns = 0;
  std::int64_t cpu_ns = 0;

  bool operator==(const Split&) const = default;
};

// One Split a window. Windows may be in any order and may overlap; none ends before it begins.
std::vector<Split> split(const trace::Trace& trace, std::span<const base::Interval> windows);

}  // namespace fathom::analyze
