#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/run/gpu_shares.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// A stretch in which a GPU ran nothing, between two rows of its work; none at the run's edges.
struct IdleGapOfGpu {
  base::Interval time;
  const WorkRow* before = nullptr;
  const WorkRow* after = nullptr;
};

struct CauseOfGap {
  IdleCause cause = IdleCause::launch;
  trace::SpanId call = trace::kNoSpan;  // that waited, was slow, or filled the gap
  trace::TrackId track = 0;             // host_code: of the thread
  base::Interval host;                  // from the gap's begin to the launch
  bool is_at_once = true;               // sync: the wait lasted into the gap; else it came before
};

struct CodeOfGap {
  std::string_view name;  // empty where less than half of the time was recorded
  std::int64_t ns = 0;    // in it, with what it called
};

// Says why a GPU was idle, by the definitions of IdleCause. Refers to the trace and the work.
// However many GPUs are idle while the host does much, it looks at each span some times and no
// more: then work that was launched late has `launch` for its cause.
class IdleCauseFinder {
 public:
  IdleCauseFinder(const trace::Trace& trace, const GpuWork& work);

  // The gaps asked for next are of this GPU, which worked for `busy_ns` of the run.
  void look_at(const DeviceWork& device, base::Interval run, std::int64_t busy_ns);
  CauseOfGap cause_of(const IdleGapOfGpu& gap);

  // What a thread did in a stretch of time: the function, operator or annotation that had most of
  // it, the innermost that still says so.
  CodeOfGap code_of(trace::TrackId track, base::Interval time) const;

 private:
  CauseOfGap cause_on_host(const IdleGapOfGpu& gap, trace::TrackId track, std::int64_t launched_ns);
  trace::TrackId busiest_track(trace::TrackId launching, base::Interval time) const;
  std::int64_t recorded_ns(trace::TrackId track, base::Interval time) const;
  std::vector<trace::SpanId> spans_in(trace::TrackId track, base::Interval time) const;
  bool waits(trace::SpanId call, const IdleGapOfGpu& gap) const;
  bool is_slow(trace::SpanId call);
  std::int64_t waited_ns(trace::TrackId track, base::Interval run);
  trace::SpanId last_wait(trace::TrackId track, std::int64_t time) const;

  const trace::Trace& trace_;
  const GpuWork& work_;
  std::vector<CallRole> roles_;                    // by name
  std::vector<std::vector<trace::SpanId>> calls_;  // by track: of the GPU runtime, by start
  std::vector<std::ptrdiff_t> last_call_;          // by track: in calls_, near the gap before
  std::vector<std::vector<trace::SpanId>> waits_;  // of these, those that wait for work
  std::vector<trace::TrackId> threads_;            // of the run
  std::vector<std::int64_t> launched_ns_;          // of each row, at the latest; INT64_MAX: unknown
  std::map<trace::NameId, std::int64_t> medians_;  // of calls by name, as asked for
  std::map<trace::TrackId, std::int64_t> waited_;  // in the run, as asked for
  trace::TrackId main_ = 0;                        // launches most
  bool host_keeps_up_ = false;                     // it needs less time than the GPU
  mutable std::int64_t left_;                      // spans that may still be looked at
};

}  // namespace fathom::analyze
