#pragma once

#include <cstdint>
#include <vector>

#include "analyze/hta/gpu_time.h"
#include "analyze/hta/gpu_work.h"
#include "base/interval_set.h"
#include "base/partition.h"
#include "fathom/figures.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What the machine's time went into, slice by slice: one per step where there are 2 to 60 steps,
// else 48 equal parts of the run. None where the run is too short to be cut.
struct TimeSlices {
  bool are_steps = false;
  std::vector<base::Interval> windows;
  std::vector<TimeParts> parts;  // of each window; the GPU's share as a whole
  // Of the CPU's share: no thread was inside a span of its own, so nobody knows what the host did.
  // A step around all of it, or a range that the user named, does not say either.
  std::vector<std::int64_t> unrecorded_ns;
  std::vector<GpuTime> gpu;  // of each window; the GPU's share by what ran
};

// `machine` is the trace's whole_machine.
TimeSlices time_slices(const trace::Trace& trace, const base::TimeSplit& machine,
                       const GpuWork& work, const std::vector<trace::SpanId>& steps,
                       base::Interval run);

}  // namespace fathom::analyze
