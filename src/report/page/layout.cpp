#include "report/page/layout.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace fathom::report {
namespace {

using trace::SpanId;
using trace::SpanKind;
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

bool is_annotation(SpanKind kind) {
  return kind == SpanKind::annotation || kind == SpanKind::gpu_annotation;
}

bool belongs_to(PageLane lane, SpanKind kind) {
  return is_annotation(kind) == (lane == PageLane::annotations);
}

bool always_stays(const trace::Spans& spans, SpanId id) {
  const SpanKind kind = spans.kind[id];
  return trace::is_gpu_work(kind) || is_annotation(kind) || kind == SpanKind::sync ||
         spans.correlation[id] != trace::kNoCorrelation;
}

// How long work of the host has to last to be among so many spans.
std::int64_t least_host_ns(const trace::Spans& spans, std::size_t most_spans) {
  if (spans.size() <= most_spans) return 0;
  std::vector<std::int64_t> durations;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!always_stays(spans, id)) durations.push_back(spans.duration_ns[id]);
  }
  const std::size_t others = spans.size() - durations.size();
  const std::size_t room = most_spans > others ? most_spans - others : 0;
  if (room >= durations.size()) return 0;
  const auto first_out = durations.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(durations.begin(), first_out, durations.end(), std::greater<>());
  return *first_out + 1;
}

// Lays out the lanes of tracks, one after another.
class Placer {
 public:
  Placer(PageLayout& layout, const trace::Trace& trace)
      : layout_(layout), trace_(trace), spans_(trace.spans), row_(trace.spans.size()) {}

  void place(TrackId track, PageLane lane) {
    std::vector<SpanId> members = members_of(trace_.tracks[track], lane);
    if (members.empty()) return;
    PageTrack placed;
    placed.track = track;
    placed.lane = lane;
    placed.rows.resize(give_rows(members, lane));
    for (const SpanId id : members) ++placed.rows[row_[id]].count;
    auto next = static_cast<std::uint32_t>(layout_.order.size());
    std::vector<std::uint32_t> free;
    for (PageRow& at : placed.rows) {
      at.first = next;
      free.push_back(next);
      next += at.count;
    }
    layout_.order.resize(next);
    for (const SpanId id : members) {
      const std::uint32_t place = free[row_[id]]++;
      layout_.order[place] = id;
      layout_.place[id] = place;
    }
    if (lane == PageLane::work) placed.frames = frames_of(placed);
    layout_.tracks.push_back(std::move(placed));
  }

 private:
  std::vector<SpanId> members_of(const trace::Track& track, PageLane lane) const {
    std::vector<SpanId> members;
    for (SpanId i = 0; i < track.span_count; ++i) {
      const SpanId id = track.first_span + i;
      if (!belongs_to(lane, spans_.kind[id])) continue;
      if (spans_.duration_ns[id] >= layout_.least_host_ns || always_stays(spans_, id)) {
        members.push_back(id);
        layout_.place[id] = 0;  // it will have one
      }
    }
    return members;
  }

  // Each span below the one around it in its lane, in the first row that is free by then; how many
  // rows that takes.
  std::size_t give_rows(const std::vector<SpanId>& members, PageLane lane) {
    std::vector<std::int64_t> free_at;
    for (const SpanId id : members) {
      SpanId parent = spans_.parent[id];
      while (parent != trace::kNoSpan &&
             (!belongs_to(lane, spans_.kind[parent]) || layout_.place[parent] == kNoPlace)) {
        parent = spans_.parent[parent];
      }
      std::uint32_t at = parent == trace::kNoSpan ? 0U : row_[parent] + 1U;
      while (at < free_at.size() && free_at[at] > spans_.start_ns[id]) ++at;
      at = std::min(at, kMostRows - 1);
      if (at >= free_at.size()) free_at.resize(at + 1, INT64_MIN);
      free_at[at] = std::max(free_at[at], spans_.end_ns(id));
      row_[id] = static_cast<std::uint8_t>(at);
    }
    return free_at.size();
  }

  std::uint32_t frames_of(const PageTrack& placed) const {
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    for (std::uint32_t i = 0; i < placed.rows[0].count; ++i) {
      const SpanId id = layout_.order[placed.rows[0].first + i];
      begin = std::min(begin, spans_.start_ns[id]);
      end = std::max(end, spans_.end_ns(id));
    }
    const std::int64_t length = end - begin;
    std::uint32_t frames = 0;
    for (const PageRow& row : placed.rows) {
      std::int64_t longest = 0;
      std::int64_t sum = 0;
      for (std::uint32_t i = 0; i < row.count; ++i) {
        const std::int64_t duration = spans_.duration_ns[layout_.order[row.first + i]];
        longest = std::max(longest, duration);
        sum += duration;
      }
      if (longest < length / 10 * 9 || sum - longest > length / 100) break;
      ++frames;
    }
    return frames > 1 ? frames : 0;
  }

  PageLayout& layout_;
  const trace::Trace& trace_;
  const trace::Spans& spans_;
  std::vector<std::uint8_t> row_;  // of each span in its lane
};

// Threads without launches that are busy for less than a thousandth of the trace, or have nothing
// but frames, of which one is enough here: a tracer may have a row for itself.
void mark_quiet(PageLayout& layout, const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (SpanId id = 0; id < spans.size(); ++id) {
    begin = std::min(begin, spans.start_ns[id]);
    end = std::max(end, spans.end_ns(id));
  }
  std::vector<bool> is_quiet(trace.tracks.size());
  bool is_first = true;
  for (const PageTrack& placed : layout.tracks) {
    const trace::Track& track = trace.tracks[placed.track];
    if (track.kind == trace::TrackKind::gpu_stream || placed.lane != PageLane::work) continue;
    if (std::exchange(is_first, false)) continue;
    const auto of_track = [&](const auto& column) {
      const auto first = column.begin() + static_cast<std::ptrdiff_t>(track.first_span);
      return std::pair(first, first + static_cast<std::ptrdiff_t>(track.span_count));
    };
    const auto [first, last] = of_track(spans.correlation);
    if (std::any_of(first, last, [](auto id) { return id != trace::kNoCorrelation; })) continue;
    std::int64_t busy = 0;
    for (std::uint32_t i = 0; i < placed.rows[0].count; ++i) {
      busy += spans.duration_ns[layout.order[placed.rows[0].first + i]];
    }
    const bool is_one_frame =
        placed.rows.size() == 1 && placed.rows[0].count == 1 && busy >= (end - begin) / 10 * 9;
    is_quiet[placed.track] =
        is_one_frame || placed.frames == placed.rows.size() || busy < (end - begin) / 1000;
  }
  for (PageTrack& placed : layout.tracks) placed.is_quiet = is_quiet[placed.track];
}

}  // namespace

PageLayout page_layout(const trace::Trace& trace, std::size_t most_spans) {
  PageLayout layout;
  layout.order.reserve(std::min(most_spans, trace.spans.size()));
  layout.place.resize(trace.spans.size(), kNoPlace);
  layout.least_host_ns = least_host_ns(trace.spans, most_spans);
  Placer placer(layout, trace);
  for (const TrackId id : tracks_in_order(trace)) {
    const bool is_stream = trace.tracks[id].kind == trace::TrackKind::gpu_stream;
    placer.place(id, is_stream ? PageLane::work : PageLane::annotations);
    placer.place(id, is_stream ? PageLane::annotations : PageLane::work);
  }
  mark_quiet(layout, trace);
  return layout;
}

}  // namespace fathom::report
