#include "analyze/run/idle_gaps.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

base::IntervalSet busy_times(const trace::Trace& trace) {
  std::vector<Interval> work;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace::is_gpu_work(trace.spans.kind[id])) {
      work.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
    }
  }
  return base::normalize(std::move(work));
}

// Self time by name within a gap: each span counts for itself and against the one around it.
void find_host(GpuGap& gap, const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  std::unordered_map<trace::NameId, std::int64_t> self;
  std::vector<Interval> recorded;
  for (const trace::Track& track : trace.tracks) {
    if (track.kind != trace::TrackKind::thread) continue;
    const auto first = spans.start_ns.begin() + track.first_span;
    // Spans are sorted by start: what begins after the gap is not in it.
    const auto last = std::lower_bound(first, first + track.span_count, gap.time.end);
    for (auto at = first; at != last; ++at) {
      const auto id = static_cast<SpanId>(at - spans.start_ns.begin());
      const std::int64_t inside =
          std::min(spans.end_ns(id), gap.time.end) - std::max(*at, gap.time.begin);
      if (inside <= 0 || !tells_of_host(spans.kind[id])) continue;
      self[spans.name[id]] += inside;
      recorded.push_back({*at, spans.end_ns(id)});
      const SpanId around = spans.parent[id];
      if (around != trace::kNoSpan && tells_of_host(spans.kind[around])) {
        self[spans.name[around]] -= inside;
      }
    }
  }
  const base::IntervalSet known = base::normalize(std::move(recorded));
  if (2 * base::length_within(known, gap.time) < gap.time.length()) return;
  for (const auto& [name, ns] : self) {
    const std::string_view text = trace.names.view(name);
    if (ns > gap.host_ns || (ns == gap.host_ns && ns > 0 && text < gap.host)) {
      gap.host = text;
      gap.host_ns = ns;
    }
  }
}

}  // namespace

bool tells_of_host(SpanKind kind) {
  return !trace::is_gpu_work(kind) && kind != SpanKind::unfinished &&
         kind != SpanKind::gpu_annotation && kind != SpanKind::other;
}

std::vector<GpuGap> idle_gaps(const trace::Trace& trace, Interval life, std::size_t top) {
  const base::IntervalSet busy = busy_times(trace);
  if (busy.empty()) return {};
  std::vector<GpuGap> gaps;
  for (const Interval& idle : base::subtract(std::span(&life, 1), busy)) {
    gaps.push_back({idle, {}, 0});
  }
  const std::size_t kept = std::min(top, gaps.size());
  std::partial_sort(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept), gaps.end(),
                    [](const GpuGap& a, const GpuGap& b) {
                      const auto length_a = a.time.length();
                      const auto length_b = b.time.length();
                      return length_a != length_b ? length_a > length_b
                                                  : a.time.begin < b.time.begin;
                    });
  gaps.resize(kept);
  for (GpuGap& gap : gaps) find_host(gap, trace);
  return gaps;
}

}  // namespace fathom::analyze
