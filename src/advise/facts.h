#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/host_operation.h"
#include "advise/platform.h"
#include "advise/replay.h"
#include "advise/zero_fills.h"
#include "analyze/critical_path/host_lines.h"
#include "analyze/critical_path/runtime_calls.h"
#include "analyze/efficiency/collectives.h"
#include "analyze/efficiency/peaks.h"
#include "analyze/run/session.h"
#include "analyze/run/wall.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::advise {

// In long gaps of the GPU (analyze::kLongGapNs), operations of the host from 0.5 ms on are a cause
// of their own, which `idle` names. All else that keeps the host from launching is the matter of
// `launch`.
inline constexpr std::int64_t kLongOperationNs = 500'000;

// A piece of the host in a long gap, the long operation it is part of, and the time they share.
struct GapPiece {
  std::size_t piece = 0;
  trace::SpanId operation = trace::kNoSpan;
  std::int64_t time_ns = 0;
  base::Interval gap;
};

// Where a copy goes; `other` for what is not a copy between host and GPU.
enum class TransferDirection : std::uint8_t { other, to_gpu, from_gpu };

// What the rules look at, worked out once. Refers to the trace and the plan.
struct Facts {
  // `given` peaks go before those that are known of the GPU.
  Facts(const trace::Trace& recorded, const ReplayPlan& ready, const analyze::Wall& wall,
        HostTime measured, const analyze::DevicePeaks& given = {});

  const trace::Trace& trace;
  const ReplayPlan& plan;
  const analyze::Dependencies& on;
  const trace::Spans& spans;
  HostTime host_time;          // of the machine that asks
  Platform platform;           // what the trace is of
  std::string gpu_name;        // of the first GPU that worked; empty where the trace names none
  analyze::DevicePeaks peaks;  // of that GPU
  analyze::HostNames names;
  std::vector<analyze::CallRole> roles;  // by name
  std::vector<trace::SpanId> waits;      // calls that waited for GPU work, in order
  std::vector<bool> takes_part;          // by thread of the host
  base::IntervalSet busy;                // some GPU works
  base::Interval window;                 // all of the trace that takes part, set-up too
  base::IntervalSet gaps;             // no GPU works; before the first work and after the last too
  std::vector<trace::SpanId> set_up;  // calls that set something up, in order (set_up_calls.h)
  base::IntervalSet long_set_up;      // set-up outside the run (wall.h)
  std::vector<base::Interval> long_gaps;  // of 1 ms and more
  std::vector<GapPiece> gap_pieces;       // by thread and time
  std::vector<bool> in_long_operation;    // by piece of the host: it is one of these
  base::IntervalSet unrecorded;  // queued work waited for what ran before the recording began
  trace::SpanId first_unrecorded_launch = trace::kNoSpan;
  ZeroFills zero_fills;
  std::vector<analyze::CollectiveWork> collectives;  // by GPU and start
  std::size_t steps = 0;                             // as the trace numbers them
  std::size_t kernel_names = 0;                      // different names of GPU work
  std::uint64_t python_spans = 0;                    // of threads that launch GPU work
  bool is_whole_program = false;  // recorded from its start to its end, set-up too
  std::int64_t wall_ns = 0;       // of the run: without set-up and what is unrecorded (wall.h)
  std::int64_t work_ns = 0;       // of all GPU work, summed

  // Of the run, in percent. Sums over threads, processes or GPUs that were busy at the same time
  // can be longer than the run; a share of it cannot be more than all.
  double share(std::int64_t ns) const {
    if (wall_ns <= 0) return 0;
    return std::min(100.0, static_cast<double>(ns) / static_cast<double>(wall_ns) * 100);
  }
  analyze::CallRole role(trace::SpanId call) const { return roles[spans.name[call]]; }
  // It loads data, or is part of what does.
  bool loads_data(trace::SpanId span) const { return has(span, kLoads); }
  bool is_wait(trace::SpanId span) const { return has(span, kWaits); }
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
  // It sets something up, or is part of what does.
  bool sets_up(trace::SpanId span) const { return has(span, kSetsUp); }
  // It launches a kernel that has not run before in this trace; the call itself, or what is around
  // it.
  bool is_first_launch(trace::SpanId call) const { return first_launches_[call]; }
  // So long that it is a matter of its own.
  bool fills_with_zeros_for_long() const {
    return share(std::max(zero_fills.work_ns, zero_fills.host_ns)) >= 3;
  }
  // It is part of filling gradients with zeros for long.
  bool fills_with_zeros(trace::SpanId span) const { return has(span, kFills); }
  // Most of what was traced is set-up, and the rest ran once: there is no steady state to judge.
  bool is_a_start() const {
    const std::int64_t set_up_ns = base::total_length(long_set_up);
    return set_up_ns * 2 > window.length() && kernel_names * 10 > on.gpu.rows.size();
  }
  double python_spans_per_ms() const {
    return wall_ns > 0 ? static_cast<double>(python_spans) / (static_cast<double>(wall_ns) / 1e6)
                       : 0;
  }
  // Recording so many functions of Python makes the host slower than it is. Fathom samples them
  // from outside, which does not.
  bool records_many_stacks() const {
    return python_spans_per_ms() > 50 && !analyze::is_fathom_run(trace);
  }
  bool is_before_or_after_all_work(base::Interval gap) const {
    return busy.empty() || gap.begin < busy.front().begin || gap.end > busy.back().end;
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
  enum Mark : std::uint8_t { kWaits = 1, kSetsUp = 2, kFills = 4, kLoads = 8 };

  bool has(trace::SpanId span, Mark mark) const { return (marks_[span] & mark) != 0; }
  void mark_inside(Mark mark);
  void find_first_launches();
  void find_set_up();
  void find_unrecorded();
  void find_fills();

  std::vector<std::uint8_t> marks_;            // by span: they are asked for together
  std::vector<bool> first_launches_;           // by span
  std::vector<TransferDirection> directions_;  // by name
};

}  // namespace fathom::advise
