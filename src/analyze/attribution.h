#pragma once

#include <cstdint>
#include <vector>

#include "base/partition.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Where the wall time of one library scope went.
struct ScopeParts {
  trace::SpanId span = trace::kNoSpan;
  base::TimeParts parts;  // add up to the span's duration
};

// Of every scope of a run, in the order of spans. GPU work belongs to the scope that was innermost
// on the thread that launched it, and to those around it, because their wall time contains it. A
// call of the GPU runtime is its thread's.
std::vector<ScopeParts> scope_parts(const trace::Trace& trace);

// Whether anything is known of the GPU: work, calls of its runtime, or memory.
bool has_gpu_activity(const trace::Trace& trace);

}  // namespace fathom::analyze
