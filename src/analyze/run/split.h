#pragma once

#include <span>
#include <vector>

#include "base/interval_set.h"
#include "fathom/figures.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What stretches of time were spent on by the machine as a whole: all GPUs' work, and the calls of
// any thread. Waits that a stream reports, and the profiler's own overhead, are nobody's call. One
// answer a window; windows may be in any order and may overlap.
std::vector<TimeParts> split(const trace::Trace& trace, std::span<const base::Interval> windows);

}  // namespace fathom::analyze
