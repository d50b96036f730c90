#include "trace/filter.h"

#include <vector>

namespace fathom::trace {
namespace {

template <typename Column>
void keep_rows(Column& column, const std::vector<SpanId>& kept) {
  for (SpanId to = 0; to < kept.size(); ++to) column[to] = column[kept[to]];
  column.resize(kept.size());
}

// Parents stand before their children, so theirs are known when a child asks.
void move_parents(std::vector<SpanId>& parent, const std::vector<SpanId>& place) {
  std::vector<SpanId> around(parent.size(), kNoSpan);  // nearest kept, in new numbers
  for (SpanId id = 0; id < parent.size(); ++id) {
    const SpanId up = parent[id];
    if (up != kNoSpan) around[id] = place[up] != kNoSpan ? place[up] : around[up];
  }
  parent = std::move(around);
}

// What only some spans have.
template <typename Item>
void keep_items(std::vector<Item>& items, const std::vector<SpanId>& place) {
  std::erase_if(items, [&](const Item& item) { return place[item.span] == kNoSpan; });
  for (Item& item : items) item.span = place[item.span];
}

}  // namespace

void keep_spans(Trace& trace, const std::function<bool(SpanId)>& keep) {
  Spans& spans = trace.spans;
  std::vector<SpanId> kept;
  std::vector<SpanId> place(spans.size(), kNoSpan);
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!keep(id)) continue;
    place[id] = static_cast<SpanId>(kept.size());
    kept.push_back(id);
  }
  move_parents(spans.parent, place);
  keep_rows(spans.name, kept);
  keep_rows(spans.shape, kept);
  keep_rows(spans.kind, kept);
  keep_rows(spans.track, kept);
  keep_rows(spans.start_ns, kept);
  keep_rows(spans.duration_ns, kept);
  keep_rows(spans.correlation, kept);
  keep_rows(spans.parent, kept);
  keep_rows(spans.source, kept);

  for (Track& track : trace.tracks) track.first_span = track.span_count = 0;
  for (SpanId id = 0; id < spans.size(); ++id) {
    Track& track = trace.tracks[spans.track[id]];
    if (track.span_count++ == 0) track.first_span = id;
  }
  keep_items(trace.bytes, place);
  keep_items(trace.scopes, place);
}

}  // namespace fathom::trace
