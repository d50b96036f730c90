#include <algorithm>
#include <tuple>

#include "advise/replay.h"
#include "analyze/critical_path/waits.h"

namespace fathom::advise {
namespace {

using analyze::HostLines;
using analyze::WorkRow;
using trace::kNoSpan;

std::int64_t median_or_zero(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::uint32_t thread_of(const ReplayPlan& plan, trace::SpanId call) {
  return plan.on->host.thread_of_track[plan.trace->spans.track[call]];
}

// What held each row back in the trace, and for how long after that it did not begin.
void measure_lags(ReplayPlan& plan) {
  const analyze::GpuWork& gpu = plan.on->gpu;
  std::vector<std::vector<std::int64_t>> usual(4);
  auto wait = plan.on->gpu_waits.begin();
  for (std::uint32_t i = 0; i < gpu.rows.size(); ++i) {
    const WorkRow& row = gpu.rows[i];
    std::int64_t ready = INT64_MIN;
    HeldBy held = HeldBy::nothing;
    const auto consider = [&](std::int64_t time_ns, HeldBy by) {
      const std::int64_t at = std::min(time_ns, row.start_ns);
      if (at > ready) std::tie(ready, held) = std::pair(at, by);
    };
    if (!plan.first_of_stream[i]) consider(gpu.rows[i - 1].end_ns, HeldBy::stream);
    for (; wait != plan.on->gpu_waits.end() && wait->work == i; ++wait) {
      consider(gpu.rows[wait->on].end_ns, HeldBy::wait);
    }
    if (row.launch != kNoSpan && thread_of(plan, row.launch) != HostLines::kNoThread) {
      consider(launch_ready_ns(plan.trace->spans, row), HeldBy::launch);
    }
    plan.held_by[i] = held;
    plan.lag_ns[i] = held == HeldBy::nothing ? 0 : row.start_ns - ready;
    const bool is_usual = held != HeldBy::nothing && plan.lag_ns[i] <= kLongestLagNs;
    if (is_usual) usual[static_cast<std::size_t>(held)].push_back(plan.lag_ns[i]);
  }
  plan.stream_lag_ns = median_or_zero(usual[static_cast<std::size_t>(HeldBy::stream)]);
  plan.wait_lag_ns = median_or_zero(usual[static_cast<std::size_t>(HeldBy::wait)]);
  plan.launch_lag_ns = median_or_zero(usual[static_cast<std::size_t>(HeldBy::launch)]);
}

// What a launch takes that finds room in its queue. Only asked for where some did not.
std::int64_t usual_launch_ns(const ReplayPlan& plan) {
  if (plan.on->queue_waits.empty()) return 0;
  std::vector<std::int64_t> times;
  for (const WorkRow& row : plan.on->gpu.rows) {
    if (row.launch == kNoSpan || queue_wait_of(*plan.on, row.launch) != nullptr) continue;
    times.push_back(plan.trace->spans.duration_ns[row.launch]);
  }
  return median_or_zero(std::move(times));
}

void gather_meetings(ReplayPlan& plan) {
  using Kind = Meeting::Kind;
  const analyze::Dependencies& on = *plan.on;
  const trace::Spans& spans = plan.trace->spans;
  for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) {
    const WorkRow& row = on.gpu.rows[i];
    plan.meetings.push_back({row.start_ns, i, HostLines::kNoThread, Kind::work_begins});
    if (row.launch == kNoSpan || thread_of(plan, row.launch) == HostLines::kNoThread) continue;
    const std::int64_t ready = std::min(row.start_ns, launch_ready_ns(spans, row));
    plan.meetings.push_back({ready, i, thread_of(plan, row.launch), Kind::launch});
  }
  trace::SpanId last = kNoSpan;
  for (const analyze::HostWait& wait : on.host_waits) {
    if (wait.call == last || thread_of(plan, wait.call) == HostLines::kNoThread) continue;
    last = wait.call;
    plan.meetings.push_back(
        {spans.end_ns(wait.call), wait.call, thread_of(plan, wait.call), Kind::returns});
  }
  for (std::uint32_t i = 0; i < on.queue_waits.size(); ++i) {
    const trace::SpanId call = on.queue_waits[i].call;
    if (thread_of(plan, call) == HostLines::kNoThread) continue;
    plan.meetings.push_back({spans.end_ns(call), i, thread_of(plan, call), Kind::unblocks});
  }
  for (std::uint32_t i = 0; i < on.hand_overs.size(); ++i) {
    const analyze::HandOver& over = on.hand_overs[i];
    plan.meetings.push_back({over.from_time_ns, i, over.from, Kind::hands_over});
    plan.meetings.push_back({over.time_ns, i, over.thread, Kind::goes_on});
  }
  std::stable_sort(plan.meetings.begin(), plan.meetings.end(),
                   [](const Meeting& a, const Meeting& b) {
                     return std::tie(a.time_ns, a.kind) < std::tie(b.time_ns, b.kind);
                   });
}

// What lies outside of the run stays as it was.
void fix_outside(ReplayPlan& plan, const base::IntervalSet& outside) {
  if (outside.empty()) return;
  const analyze::Dependencies& on = *plan.on;
  plan.outside_ns = base::length_within(outside, window_of(on, plan.threads));
  plan.fixed_pieces.resize(on.host.span.size());
  for (const std::uint32_t thread : plan.threads) {
    for (const base::Interval& time : outside) {
      const auto [first, last] = pieces_touching(on.host, thread, time);
      for (std::size_t i = first; i < last; ++i) {
        const base::Interval piece{on.host.start_ns[i], on.host.start_ns[i + 1]};
        const base::Interval shared{std::max(piece.begin, time.begin),
                                    std::min(piece.end, time.end)};
        if (2 * shared.length() > piece.length()) plan.fixed_pieces[i] = true;
      }
    }
  }
  plan.fixed_lags.resize(on.gpu.rows.size());
  for (std::size_t i = 0; i < on.gpu.rows.size(); ++i) {
    const std::int64_t start = on.gpu.rows[i].start_ns;
    const auto time = std::partition_point(outside.begin(), outside.end(),
                                           [&](const auto& one) { return one.end < start; });
    plan.fixed_lags[i] = time != outside.end() && time->end == start;
  }
}

}  // namespace

ReplayPlan plan_replay(const trace::Trace& trace, const analyze::Dependencies& dependencies,
                       const base::IntervalSet& outside) {
  ReplayPlan plan;
  plan.trace = &trace;
  plan.on = &dependencies;
  const std::size_t rows = dependencies.gpu.rows.size();
  plan.first_of_stream.resize(rows);
  for (const analyze::GpuStream& stream : dependencies.gpu.streams) {
    plan.first_of_stream[stream.first] = true;
  }
  plan.held_by.resize(rows);
  plan.lag_ns.resize(rows);
  plan.threads = threads_taking_part(trace, dependencies);
  plan.measured_ns = window_of(dependencies, plan.threads).length();
  measure_lags(plan);
  fix_outside(plan, outside);
  plan.launch_call_ns = usual_launch_ns(plan);
  gather_meetings(plan);
  return plan;
}

}  // namespace fathom::advise
