#include "analyze/run/timeline_stats.h"

#include <algorithm>
#include <utility>

#include "analyze/operations/host_spans.h"
#include "base/interval_set.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using base::IntervalSet;
using trace::SpanId;

void append(std::vector<Interval>& all, const IntervalSet& some) {
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

TimelineStats timeline_stats(const trace::Trace& trace) {
  const HostSpans host(trace);
  TimelineStats stats;
  std::vector<Interval> cpu;
  std::vector<Interval> gpu;
  bool has_gpu_work = false;
  Interval window{INT64_MAX, INT64_MIN};
  for (trace::TrackId id = 0; id < trace.tracks.size(); ++id) {
    const trace::Track& track = trace.tracks[id];
    std::vector<Interval> of_host;
    std::vector<Interval> of_gpu;
    for (SpanId span = track.first_span; span < track.first_span + track.span_count; ++span) {
      const bool is_gpu = trace::is_gpu_work(trace.spans.kind[span]);
      if (!is_gpu && !host.contains(span)) continue;
      const Interval when{trace.spans.start_ns[span], trace.spans.end_ns(span)};
      window = {std::min(window.begin, when.begin), std::max(window.end, when.end)};
      (is_gpu ? of_gpu : of_host).push_back(when);
    }
    const std::uint64_t spans = of_host.size() + of_gpu.size();
    if (spans == 0) continue;
    has_gpu_work |= !of_gpu.empty();
    const IntervalSet host_set = base::normalize(std::move(of_host));
    const IntervalSet gpu_set = base::normalize(std::move(of_gpu));
    stats.tracks.push_back({id, spans, base::total_length(base::unite(host_set, gpu_set))});
    append(cpu, host_set);
    append(gpu, gpu_set);
  }
  if (stats.tracks.empty()) return stats;
  stats.begin_ns = window.begin;
  stats.end_ns = window.end;
  const IntervalSet cpu_set = base::normalize(std::move(cpu));
  stats.cpu_active_ns = base::total_length(cpu_set);
  if (has_gpu_work) {
    const IntervalSet gpu_set = base::normalize(std::move(gpu));
    stats.gpu_active_ns = base::total_length(gpu_set);
    stats.overlap_ns = base::total_length(base::intersect(cpu_set, gpu_set));
  }
  return stats;
}

}  // namespace fathom::analyze
