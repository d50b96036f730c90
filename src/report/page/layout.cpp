#include "report/page/layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace fathom::report {
namespace {

using trace::SpanId;
using trace::TrackId;

std::vector<TrackId> tracks_in_order(const trace::Trace& trace) {
  std::vector<TrackId> order;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    if (trace.tracks[id].span_count > 0) order.push_back(id);
  }
  const auto rank = [&](TrackId id) {
    const trace::Track& track = trace.tracks[id];
    const bool is_stream = track.kind == trace::TrackKind::gpu_stream;
    const int group = is_stream ? 0 : track.kind == trace::TrackKind::thread ? 1 : 2;
    const bool is_main = track.tid == track.pid && track.tid_text == track.pid_text;
    const SpanId spans = is_stream ? 0 : track.span_count;  // streams stay in their own order
    return std::tuple(group, !is_main, UINT32_MAX - spans, id);
  };
  std::sort(order.begin(), order.end(), [&](TrackId a, TrackId b) { return rank(a) < rank(b); });
  return order;
}

// Each span below the one around it, in the first row that is free by then.
std::vector<std::uint8_t> rows_of(const trace::Spans& spans, const trace::Track& track) {
  std::vector<std::uint8_t> row(track.span_count);
  std::vector<std::int64_t> free_at;
  for (SpanId i = 0; i < track.span_count; ++i) {
    const SpanId id = track.first_span + i;
    const SpanId parent = spans.parent[id];
    std::uint32_t at = parent == trace::kNoSpan ? 0U : row[parent - track.first_span] + 1U;
    while (at < free_at.size() && free_at[at] > spans.start_ns[id]) ++at;
    at = std::min(at, kMostRows - 1);
    if (at >= free_at.size()) free_at.resize(at + 1, INT64_MIN);
    free_at[at] = std::max(free_at[at], spans.end_ns(id));
    row[i] = static_cast<std::uint8_t>(at);
  }
  return row;
}

void place_track(PageLayout& layout, const trace::Trace& trace, TrackId id) {
  const trace::Track& track = trace.tracks[id];
  const std::vector<std::uint8_t> row = rows_of(trace.spans, track);
  PageTrack placed;
  placed.track = id;
  placed.rows.resize(*std::max_element(row.begin(), row.end()) + 1U);
  for (const std::uint8_t at : row) ++placed.rows[at].count;
  auto next = static_cast<std::uint32_t>(layout.order.size());
  std::vector<std::uint32_t> free;
  for (PageRow& at : placed.rows) {
    at.first = next;
    free.push_back(next);
    next += at.count;
  }
  layout.order.resize(next);
  for (SpanId i = 0; i < track.span_count; ++i) {
    const std::uint32_t place = free[row[i]]++;
    layout.order[place] = track.first_span + i;
    layout.place[track.first_span + i] = place;
  }
  layout.tracks.push_back(std::move(placed));
}

}  // namespace

PageLayout page_layout(const trace::Trace& trace) {
  PageLayout layout;
  layout.order.reserve(trace.spans.size());
  layout.place.resize(trace.spans.size());
  for (const TrackId id : tracks_in_order(trace)) place_track(layout, trace, id);
  return layout;
}

}  // namespace fathom::report
