#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/platform.h"
#include "advise/replay.h"
#include "analyze/critical_path/host_lines.h"
#include "analyze/critical_path/runtime_calls.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::advise {

// In gaps of the GPU from 1 ms on, operations of the host from 0.5 ms on are a cause of their own,
// which `idle` names. All else that keeps the host from launching is the matter of `launch`.
inline constexpr std::int64_t kLongGapNs = 1'000'000;
inline constexpr std::int64_t kLongOperationNs = 500'000;

// A piece of the host in a long gap, the long operation it is part of, and the time they share.
struct GapPiece {
  std::size_t piece = 0;
  trace::SpanId operation = trace::kNoSpan;
  std::int64_t time_ns = 0;
};

// Where a copy goes; `other` for what is not a copy between host and GPU.
enum class TransferDirection : std::uint8_t { other, to_gpu, from_gpu };

// What the rules look at, worked out once. Refers to the trace and the plan.
struct Facts {
  Facts(const trace::Trace& recorded, const ReplayPlan& ready, std::int64_t run_ns);

  const trace::Trace& trace;
  const ReplayPlan& plan;
  const analyze::Dependencies& on;
  const trace::Spans& spans;
  Platform platform;  // what the trace is of
  analyze::HostNames names;
  std::vector<analyze::CallRole> roles;   // by name
  std::vector<trace::SpanId> waits;       // calls that waited for GPU work, in order
  std::vector<bool> takes_part;           // by thread of the host
  base::IntervalSet busy;                 // some GPU works
  base::IntervalSet gaps;                 // between the first work and the last, none does
  std::vector<base::Interval> long_gaps;  // of 1 ms and more
  std::vector<GapPiece> gap_pieces;       // by thread and time
  std::vector<bool> in_long_operation;    // by piece of the host: it is one of these
  std::int64_t wall_ns = 0;  // of the run (wall.h), and no less than what is replayed of it
  std::int64_t work_ns = 0;  // of all GPU work, summed

  // Of the run, in percent. Sums over threads, processes or GPUs that were busy at the same time can
  // be longer than the run; a share of it cannot be more than all.
  double share(std::int64_t ns) const {
    if (wall_ns <= 0) return 0;
    return std::min(100.0, static_cast<double>(ns) / static_cast<double>(wall_ns) * 100);
  }
  analyze::CallRole role(trace::SpanId call) const { return roles[spans.name[call]]; }
  // It loads data, or is part of what does.
  bool loads_data(trace::SpanId span) const { return loads_[span]; }
  bool is_wait(trace::SpanId span) const { return waits_[span]; }
  // A launch that found the launch queue full: the host was ahead, and what it took beyond a usual
  // launch is neither the launch's nor the host's.
  bool is_blocked(trace::SpanId span) const {
    return !on.queue_waits.empty() && queue_wait_of(on, span) != nullptr;
  }
  // How long a call kept its thread busy: without the wait for room in the queue.
  std::int64_t call_ns(trace::SpanId call) const {
    return is_blocked(call) ? std::min(spans.duration_ns[call], plan.launch_call_ns)
                            : spans.duration_ns[call];
  }
  TransferDirection direction(const analyze::WorkRow& row) const { return directions_[row.name]; }
  std::uint32_t thread_of(trace::SpanId span) const {
    return on.host.thread_of_track[spans.track[span]];
  }
  // The operation that a call is part of: the innermost operator or scope around it, else the
  // innermost Python function, else the call itself.
  trace::SpanId caller_of(trace::SpanId call) const;
  // Bytes that a copy or fill moved; 0 where it does not say.
  std::int64_t bytes_of(trace::SpanId span) const;

 private:
  std::vector<bool> waits_;                    // by span
  std::vector<bool> loads_;                    // by span
  std::vector<TransferDirection> directions_;  // by name
};

}  // namespace fathom::advise
