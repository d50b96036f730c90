#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// What each thread did at every instant: its innermost running span, the one that began last. A
// thread's line of time is cut into pieces where that changes. Spans that are no work of the host
// are left out: those of the GPU, the profiler's own, unfinished ones, and frames of no known kind
// where other kinds are known.
struct HostThread {
  trace::TrackId track = 0;
  std::uint32_t first = 0;  // its pieces are [first, last); `last` is where the thread's line ends
  std::uint32_t last = 0;
};

// Piece i lasts from start_ns[i] to start_ns[i + 1]. Pieces are not empty, and two that touch have
// different spans.
struct HostLines {
  std::vector<std::int64_t> start_ns;
  std::vector<trace::SpanId> span;  // kNoSpan where nothing of the thread was recorded
  std::vector<HostThread> threads;
  std::vector<std::uint32_t> thread_of_track;  // kNoThread where the track is none, or empty

  static constexpr std::uint32_t kNoThread = UINT32_MAX;

  std::int64_t begin_ns(const HostThread& thread) const { return start_ns[thread.first]; }
  std::int64_t end_ns(const HostThread& thread) const { return start_ns[thread.last]; }

  // The piece that holds the instants just before `time_ns`; begin < time ≤ end of the thread.
  std::uint32_t piece_before(const HostThread& thread, std::int64_t time_ns) const;
};

HostLines host_lines(const trace::Trace& trace);

// What a span of the host says about its thread. Each distinct name is looked at once.
class HostNames {
 public:
  explicit HostNames(const trace::Trace& trace);

  // False where the thread may as well have waited: annotations tell what the user calls this time,
  // not what the thread did, and the caller of a backward pass waits for the thread that runs it.
  // Loading data is work, annotation or not.
  bool shows_work(trace::SpanId span) const;
  bool loads_data(trace::SpanId span) const;
  bool any_loads_data() const;

 private:
  enum class Says : std::uint8_t { nothing, frame, loads_data };

  const trace::Spans& spans_;
  std::vector<Says> says_;  // by name
};

}  // namespace fathom::analyze
