#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "advise/replay.h"
#include "analyze/critical_path/waits.h"
#include "base/sort_runs.h"

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

// No longer than fits between the two in the trace.
void measure_launch_lags(ReplayPlan& plan) {
  const analyze::GpuWork& gpu = plan.on->gpu;
  plan.launch_lag_of.resize(gpu.rows.size());
  for (std::uint32_t i = 0; i < gpu.rows.size(); ++i) {
    const WorkRow& row = gpu.rows[i];
    if (row.launch == kNoSpan || plan.held_by[i] == HeldBy::launch) continue;
    const std::int64_t ready = std::min(row.start_ns, launch_ready_ns(plan.trace->spans, row));
    plan.launch_lag_of[i] =
        static_cast<std::uint32_t>(std::min(plan.launch_lag_ns, row.start_ns - ready));
  }
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
  plan.meetings.reserve(2 * on.gpu.rows.size() + on.host_waits.size() + on.queue_waits.size() +
                        2 * on.hand_overs.size());
  // Row by row, a stream's work is in order, and so are its launches: few runs to sort.
  for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) {
    plan.meetings.push_back({on.gpu.rows[i].start_ns, i, HostLines::kNoThread, Kind::work_begins});
  }
  for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) {
    const WorkRow& row = on.gpu.rows[i];
    if (row.launch == kNoSpan || thread_of(plan, row.launch) == HostLines::kNoThread) continue;
    const std::int64_t ready = std::min(row.start_ns, launch_ready_ns(spans, row));
    plan.meetings.push_back({ready, i, thread_of(plan, row.launch), Kind::launch});
  }
  for (std::uint32_t i = 0; i < on.host_waits.size(); ++i) {
    const trace::SpanId call = on.host_waits[i].call;
    const bool is_first = i == 0 || on.host_waits[i - 1].call != call;
    if (!is_first || thread_of(plan, call) == HostLines::kNoThread) continue;
    plan.meetings.push_back({spans.end_ns(call), i, thread_of(plan, call), Kind::returns});
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
  base::sort_runs(std::span(plan.meetings), [](const Meeting& a, const Meeting& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.kind < b.kind;
  });
}

void index_waits(ReplayPlan& plan) {
  std::uint32_t wait = 0;
  plan.first_wait.reserve(plan.on->gpu.rows.size() + 1);
  for (std::uint32_t row = 0; row <= plan.on->gpu.rows.size(); ++row) {
    while (wait < plan.on->gpu_waits.size() && plan.on->gpu_waits[wait].work < row) ++wait;
    plan.first_wait.push_back(wait);
  }
}

bool moves_its_thread(Meeting::Kind kind) {
  return kind == Meeting::Kind::unblocks || kind == Meeting::Kind::returns ||
         kind == Meeting::Kind::goes_on;
}

// Goes through the meetings as a replay does, and notes from where to where each thread goes.
void cut_into_stretches(ReplayPlan& plan) {
  const HostLines& host = plan.on->host;
  std::vector<std::vector<base::Interval>> of_thread(host.threads.size());
  std::vector<std::int64_t> at;
  for (const analyze::HostThread& thread : host.threads) at.push_back(host.begin_ns(thread));
  const auto go = [&](std::uint32_t thread, std::int64_t time_ns) {
    const std::int64_t to = std::min(time_ns, host.end_ns(host.threads[thread]));
    if (at[thread] < to) of_thread[thread].push_back({std::exchange(at[thread], to), to});
  };
  for (const Meeting& meeting : plan.meetings) {
    if (meeting.kind == Meeting::Kind::work_begins) continue;
    std::int64_t& now = at[meeting.thread];
    const auto to = goes_to(plan, meeting, now);
    if (!to && meeting.kind != Meeting::Kind::goes_on) continue;
    if (to) go(meeting.thread, *to);
    if (!moves_its_thread(meeting.kind) || now > meeting.time_ns) continue;
    now = std::max(now, std::min(meeting.time_ns, host.end_ns(host.threads[meeting.thread])));
  }
  for (const std::uint32_t thread : plan.threads) go(thread, INT64_MAX);
  for (const std::vector<base::Interval>& some : of_thread) {
    plan.first_stretch_of_thread.push_back(static_cast<std::uint32_t>(plan.stretches.size()));
    plan.stretches.insert(plan.stretches.end(), some.begin(), some.end());
    plan.stretches.push_back({INT64_MAX, INT64_MAX});
  }
}

void measure_stretches(ReplayPlan& plan) {
  const HostLines& host = plan.on->host;
  plan.stretch_ns.resize(plan.stretches.size());
  plan.first_stretch.resize(host.span.size());
  for (std::size_t thread = 0; thread < host.threads.size(); ++thread) {
    std::uint32_t stretch = plan.first_stretch_of_thread[thread];
    for (std::size_t piece = host.threads[thread].first; piece < host.threads[thread].last;
         ++piece) {
      const std::int64_t until = host.start_ns[piece + 1];
      while (plan.stretches[stretch].end <= host.start_ns[piece]) ++stretch;
      const base::Interval first = plan.stretches[stretch];
      const bool is_fixed = !plan.fixed_pieces.empty() && plan.fixed_pieces[piece];
      const bool is_whole = first.begin <= host.start_ns[piece] && until <= first.end && !is_fixed;
      plan.first_stretch[piece] = stretch | (is_whole ? ReplayPlan::kWhole : 0U);
      for (std::uint32_t i = stretch; plan.stretches[i].begin < until; ++i) {
        plan.stretch_ns[i] += time_in_stretch(plan, piece, i, until - host.start_ns[piece]);
      }
    }
  }
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
  measure_launch_lags(plan);
  fix_outside(plan, outside);
  plan.launch_call_ns = usual_launch_ns(plan);
  gather_meetings(plan);
  index_waits(plan);
  cut_into_stretches(plan);
  measure_stretches(plan);
  return plan;
}

std::optional<std::int64_t> goes_to(const ReplayPlan& plan, const Meeting& meeting,
                                    std::int64_t measured_ns) {
  using Kind = Meeting::Kind;
  const analyze::Dependencies& on = *plan.on;
  const bool waits = meeting.kind == Kind::unblocks || meeting.kind == Kind::returns;
  if (waits && measured_ns >= meeting.time_ns) return std::nullopt;
  // Another call may have reached into this one.
  const auto begin_of = [&](trace::SpanId call) {
    return std::max(plan.trace->spans.start_ns[call], measured_ns);
  };
  if (meeting.kind == Kind::unblocks) {
    const std::int64_t begin = begin_of(on.queue_waits[meeting.index].call);
    return std::min(meeting.time_ns, begin + plan.launch_call_ns);
  }
  if (meeting.kind == Kind::returns) return begin_of(on.host_waits[meeting.index].call);
  if (meeting.kind != Kind::goes_on) return meeting.time_ns;
  const std::int64_t since = on.hand_overs[meeting.index].idle_since_ns;
  const bool has_begun = since > on.host.begin_ns(on.host.threads[meeting.thread]);
  return has_begun ? std::optional(since) : std::nullopt;
}

}  // namespace fathom::advise
