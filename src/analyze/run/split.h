#pragma once

#include "base/partition.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What the machine as a whole spent time on: all GPUs' work, and the calls of any thread. Waits
// that a stream reports, and the profiler's own overhead, are nobody's call.
base::TimeSplit whole_machine(const trace::Trace& trace);

}  // namespace fathom::analyze
