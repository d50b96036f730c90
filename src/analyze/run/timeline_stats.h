#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

struct TrackActivity {
  trace::TrackId track = 0;
  std::uint64_t spans = 0;
  std::int64_t busy_ns = 0;  // instants that at least one span of the track holds
};

// How long host and GPUs were at work, alone and at once. An instant is CPU active where any thread
// is inside a span of its own (waiting counts: the thread is there), GPU active where any stream of
// any GPU runs a kernel, copy or fill. Exact: sets of instants, no sampling.
struct TimelineStats {
  std::int64_t begin_ns = 0;  // first start and last end of any of them
  std::int64_t end_ns = 0;
  std::int64_t cpu_active_ns = 0;
  std::optional<std::int64_t> gpu_active_ns;  // absent where the trace has no GPU work
  std::optional<std::int64_t> overlap_ns;
  std::vector<TrackActivity> tracks;  // those with host spans or GPU work, in order of the trace

  std::int64_t total_ns() const { return end_ns - begin_ns; }
};

TimelineStats timeline_stats(const trace::Trace& trace);

}  // namespace fathom::analyze
