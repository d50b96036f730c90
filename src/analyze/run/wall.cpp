#include "analyze/run/wall.h"

#include <algorithm>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/operations/host_spans.h"
#include "analyze/operations/steps.h"
#include "analyze/run/set_up.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kLongestToStartNs = 1'000'000;

constexpr Interval kNever = {INT64_MAX, INT64_MIN};

void widen(Interval& window, std::int64_t begin, std::int64_t end) {
  window = {std::min(window.begin, begin), std::max(window.end, end)};
}

// A profiler waits for the device before it closes, after the program's own work is over.
bool is_closing_sync(const trace::Trace& trace, SpanId id, std::int64_t last_work_ns) {
  const trace::Track& track = trace.tracks[trace.spans.track[id]];
  return trace.spans.start_ns[id] >= last_work_ns &&
         id + 1 == track.first_span + track.span_count &&
         trace::is_gpu_call(trace.spans.kind[id]) && trace.spans.parent[id] == trace::kNoSpan &&
         call_role(trace.name(id)) == CallRole::device_sync;
}

Interval window_of_threads(const trace::Trace& trace, const std::vector<bool>& takes_part,
                           std::int64_t last_work_ns) {
  const HostSpans host(trace);
  const bool all = std::find(takes_part.begin(), takes_part.end(), true) == takes_part.end();
  Interval window = kNever;
  for (trace::TrackId id = 0; id < trace.tracks.size(); ++id) {
    const trace::Track& track = trace.tracks[id];
    if (!all && !takes_part[id]) continue;
    for (SpanId span = track.first_span; span < track.first_span + track.span_count; ++span) {
      if (!host.contains(span) || trace.spans.kind[span] == SpanKind::overhead) continue;
      if (is_closing_sync(trace, span, last_work_ns)) continue;
      widen(window, trace.spans.start_ns[span], trace.spans.end_ns(span));
    }
  }
  return window;
}

Interval window_of_work(const GpuWork& work) {
  Interval window = kNever;
  for (const WorkRow& row : work.rows) widen(window, row.start_ns, row.end_ns);
  return window;
}

Interval window_of_spans(const trace::Trace& trace) {
  Interval window = kNever;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    widen(window, trace.spans.start_ns[id], trace.spans.end_ns(id));
  }
  return window.begin > window.end ? Interval{} : window;
}

// What every other command is told of the run's begin and end.
void find_bounds(Wall& found, const trace::Trace& trace, const GpuWork& work,
                 const std::vector<SpanId>& steps) {
  const trace::RunInfo& run = trace.run;
  if (run.begin_ns && run.end_ns && *run.begin_ns <= *run.end_ns) {
    found.basis = WallBasis::program;
    found.time = {*run.begin_ns, *run.end_ns};
    return;
  }
  found.time = window_of_work(work);
  if (!steps.empty()) {
    found.basis = WallBasis::steps;
    found.time.begin = trace.spans.start_ns[steps.front()];
    for (const SpanId step : steps) {
      found.time.end = std::max(found.time.end, trace.spans.end_ns(step));
    }
    return;
  }
  const Interval threads = window_of_threads(trace, threads_of_run(trace, work), found.time.end);
  widen(found.time, threads.begin, threads.end);
  if (found.time.begin > found.time.end) found.time = window_of_spans(trace);
}

// Of a program that Fathom recorded, all counts: what its set-up costs is the user's question too.
bool is_whole_program(const trace::Trace& trace, const Wall& found) {
  return found.basis == WallBasis::program || trace.run.format == "Fathom run";
}

// Where no GPU shows anything up to the first work of a stream, which had been launched long
// before: from the end of the work before it on, for the queue was never empty.
base::IntervalSet unrecorded_work(const trace::Trace& trace, const GpuWork& work,
                                  const base::IntervalSet& idle) {
  std::vector<Interval> found;
  for (const GpuStream& stream : work.streams) {
    const WorkRow& first = work.rows[stream.first];
    if (first.launch == trace::kNoSpan) continue;
    const Interval waits = {trace.spans.end_ns(first.launch), first.start_ns};
    if (waits.length() <= kLongestToStartNs) continue;
    if (base::length_within(idle, waits) != waits.length()) continue;
    found.push_back(base::touching(idle, waits).front());
  }
  return base::normalize(std::move(found));
}

}  // namespace

std::vector<bool> threads_of_run(const trace::Trace& trace, const GpuWork& work) {
  std::vector<bool> takes_part(trace.tracks.size());
  for (const WorkRow& row : work.rows) {
    if (row.launch != trace::kNoSpan) takes_part[trace.spans.track[row.launch]] = true;
  }
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] == SpanKind::scope) takes_part[trace.spans.track[id]] = true;
  }
  return takes_part;
}

Wall wall(const trace::Trace& trace, const GpuWork& work, const std::vector<SpanId>& steps) {
  Wall found;
  find_bounds(found, trace, work, steps);
  if (is_whole_program(trace, found) || work.rows.empty()) return found;
  std::vector<Interval> busy;
  busy.reserve(work.rows.size());
  for (const WorkRow& row : work.rows) busy.push_back({row.start_ns, row.end_ns});
  const base::IntervalSet idle =
      base::subtract(std::span(&found.time, 1), base::normalize(std::move(busy)));
  SetUp set_up = find_set_up(trace, idle, window_of_work(work).begin);
  found.unknown = unrecorded_work(trace, work, idle);
  found.set_up = base::subtract(set_up.time, found.unknown);
  found.set_up_call = std::move(set_up.longest_call);
  return found;
}

Wall wall(const trace::Trace& trace) {
  return wall(trace, gpu_work(trace), step_spans(trace));
}

}  // namespace fathom::analyze
