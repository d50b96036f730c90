#pragma once

#include <vector>

#include "analyze/critical_path/dependencies.h"

namespace fathom::analyze {

// The parts of `dependencies` (dependencies.h says which waits there are).
std::vector<HostWait> host_waits(const trace::Trace& trace, const GpuWork& gpu);
std::vector<GpuWait> gpu_waits(const trace::Trace& trace, const GpuWork& gpu);
std::vector<HandOver> hand_overs(const trace::Trace& trace, const GpuWork& gpu,
                                 const HostLines& host);

// When the host asked for the work; its own start where that is not known.
inline std::int64_t launched_ns(const trace::Spans& spans, const WorkRow& row) {
  return row.launch == trace::kNoSpan ? row.start_ns : spans.start_ns[row.launch];
}

// From when a known launch no longer held the work back: the end of the call, or its start where
// the work began within it, as it does in a blocking copy.
inline std::int64_t launch_ready_ns(const trace::Spans& spans, const WorkRow& row) {
  const std::int64_t end = spans.end_ns(row.launch);
  return end <= row.start_ns ? end : spans.start_ns[row.launch];
}

}  // namespace fathom::analyze
