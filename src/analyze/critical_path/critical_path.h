#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/critical_path/dependencies.h"
#include "analyze/run/wall.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What an instant of the critical path was spent on.
enum class Bound : std::uint8_t {
  compute,        // a kernel ran
  communication,  // a kernel that exchanges data with other GPUs ran
  copy,           // a copy or fill ran
  launch,         // launching: the calls, and from the call or the work before to the start of work
  runtime,        // other calls of the GPU runtime: allocating, queries, loading code
  sync,           // in a synchronisation call while nothing ran that it may have waited for
  data_loading,   // the host loaded data
  cpu,            // the host did anything else
  unknown,        // nothing recorded explains it
};

inline constexpr std::size_t kBoundCount = 9;
inline constexpr std::array<std::string_view, kBoundCount> kBoundNames = {
    "compute", "communication", "copy", "launch", "runtime",
    "sync",    "data_loading",  "cpu",  "unknown"};

constexpr std::string_view name_of(Bound bound) {
  return kBoundNames[static_cast<std::size_t>(bound)];
}

using BoundTimes = std::array<std::int64_t, kBoundCount>;  // ns, by Bound

// A stretch of the path; each begins where the one before ends.
struct PathSegment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  // What ran; for the time before work began, the work that waited; kNoSpan where nothing is known.
  trace::SpanId span = trace::kNoSpan;
  Bound bound = Bound::unknown;
};

// A step of the run ("ProfilerStep#7", as the host saw it), and its share of the path.
struct PathStep {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  BoundTimes bound_by = {};  // adds up to its duration, but for what stands apart
};

// Time on the path of all spans of one name.
struct PathOperation {
  std::string name;  // empty where nothing was recorded
  Bound bound = Bound::unknown;
  std::int64_t path_ns = 0;
  std::uint64_t segments = 0;
};

// The chain of dependencies that explains the wall time: from what ended last, back to what that
// had waited for, and so on to the begin. Of all that something waited for (dependencies.h), the
// path goes to the one that was ready last, for an earlier end of any other would have changed
// nothing. Each instant from the first start to the last end of any work belongs to exactly one
// segment, so the times add up. Of a run (wall.h) they add up to its length: set-up and what an
// excerpt does not show are no part of it.
//
//   From GPU work   to the work before it on its stream, to work it waited for on another, or to
//   its
//                   launch, whichever was last. The time between is `launch`, or `unknown` if it is
//                   over 100 µs. A launch is ready at the end of its call, or at its start if the
//                   work began within the call.
//   From a thread   to the piece before; from a call that waited for GPU work to the end of that
//                   work; from a launch that found the queue full to the begin of the work that
//                   made room; from the first work after a pause to the thread that handed over.
//   From nothing    to whatever else was the last to end; the time between is `unknown`.
//
// A host piece with nothing but an annotation, or less than 100 µs without any span, is `cpu`: code
// that is not traced; longer ones are `unknown`. Threads that launch nothing take no part, unless
// no thread launches anything. The path ends at its rank: what others did is communication.
struct CriticalPath {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t apart_ns = 0;              // between these, and no part of the run
  BoundTimes bound_by = {};               // adds up to the total
  std::vector<PathStep> steps;            // in order; empty where the trace has none
  std::vector<PathOperation> operations;  // most time first; ties by name

  std::int64_t total_ns() const { return end_ns - begin_ns - apart_ns; }
};

CriticalPath critical_path(const trace::Trace& trace);
CriticalPath critical_path(const trace::Trace& trace, const Dependencies& dependencies);
// Of the run, as every command means it.
CriticalPath critical_path(const trace::Trace& trace, const Dependencies& dependencies,
                           const Wall& wall);

}  // namespace fathom::analyze
