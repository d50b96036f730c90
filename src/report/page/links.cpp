#include "report/page/links.h"

#include <algorithm>
#include <tuple>

namespace fathom::report {
namespace {

using trace::FlowPoint;
using trace::kNoSpan;
using trace::SpanId;

// Spans of a track are by start, so the last that began is the innermost or lies beside it.
SpanId span_at(const trace::Trace& trace, const FlowPoint& point) {
  const trace::Track& track = trace.tracks[point.track];
  const auto first = trace.spans.start_ns.begin() + static_cast<std::ptrdiff_t>(track.first_span);
  const auto last = first + static_cast<std::ptrdiff_t>(track.span_count);
  const auto after = std::upper_bound(first, last, point.time_ns);
  if (after == first) return kNoSpan;
  auto span = static_cast<SpanId>(after - trace.spans.start_ns.begin() - 1);
  while (span != kNoSpan && trace.spans.end_ns(span) < point.time_ns) {
    span = trace.spans.parent[span];
  }
  return span;
}

}  // namespace

std::vector<PageLink> page_links(const trace::Trace& trace, std::size_t most) {
  std::vector<FlowPoint> points = trace.flows;
  std::stable_sort(points.begin(), points.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return std::tie(a.category, a.id, a.time_ns) < std::tie(b.category, b.id, b.time_ns);
  });
  std::vector<PageLink> links;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const FlowPoint& before = points[i - 1];
    const FlowPoint& point = points[i];
    const bool is_same = before.category == point.category && before.id == point.id;
    // An id may be used again: what begins is not what the last one led to.
    if (!is_same || point.phase == trace::FlowPhase::begin) continue;
    const PageLink link{span_at(trace, before), span_at(trace, point)};
    if (link.from != kNoSpan && link.to != kNoSpan && link.from != link.to) links.push_back(link);
  }
  std::stable_sort(links.begin(), links.end(), [&](const PageLink& a, const PageLink& b) {
    return trace.spans.start_ns[a.from] < trace.spans.start_ns[b.from];
  });
  if (links.size() > most) links.resize(most);
  return links;
}

}  // namespace fathom::report
