#pragma once

#include <cstdint>
#include <vector>

#include "fathom/figures.h"
#include "trace/trace.h"

namespace fathom::trace {

// Where the wall time of one library scope, or of another span of a thread, went.
struct ScopeParts {
  SpanId span = kNoSpan;
  TimeParts parts;  // add up to the span's duration
};

// Of every scope of a run, in the order of spans. GPU work belongs to the scope that was innermost
// on the thread that launched it, and to those around it, because their wall time contains it. A
// call of the GPU runtime is its thread's.
std::vector<ScopeParts> scope_parts(const Trace& trace);

// The same of the chosen spans of a trace without scopes, such as a framework's. GPU work belongs
// to the call that launched it, by their correlation, and to those around that call; chosen GPU
// work is its own. None where no launch is known and no GPU work is chosen: then nothing tells
// whose time it was.
std::vector<ScopeParts> launched_parts(const Trace& trace, const std::vector<bool>& chosen);

// Whether anything is known of the GPU: work, calls of its runtime, or memory.
bool has_gpu_activity(const Trace& trace);

}  // namespace fathom::trace
