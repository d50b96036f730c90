#pragma once

#include <string>
#include <vector>

#include "analyze/memory/memory.h"
#include "analyze/operations/operations.h"
#include "base/interval_set.h"
#include "base/partition.h"
#include "fathom/session.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Recorded by Fathom, so that it has a session to tell of.
bool is_fathom_run(const trace::Trace& trace);

// The session of a recorded run. `life` is the run's time (wall.h). Where nothing of the GPU was
// recorded, the four parts of the time are not known. `machine` (split.h), `operations` and
// `memory` are the trace's own.
ProfileSession session(const trace::Trace& trace, base::Interval life,
                       const base::TimeSplit& machine, const std::vector<Operation>& operations,
                       const Memory& memory, std::string trace_path);

}  // namespace fathom::analyze
