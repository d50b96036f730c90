#include "trace/span_order.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "base/error.h"
#include "base/parallel.h"
#include "base/sort_runs.h"
#include "trace/span_in_order.h"

namespace fathom::trace {
namespace {

// Stands for a row while rows are being ordered.
struct Key {
  std::int64_t start_ns = 0;
  std::uint32_t source = 0;
  std::uint32_t index = 0;
};

struct KeyOrder {
  const std::vector<Source>& sources;

  const SpanRow& row(const Key& key) const { return sources[key.source].rows->spans[key.index]; }

  bool operator()(const Key& a, const Key& b) const {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    const SpanRow& x = row(a);
    const SpanRow& y = row(b);
    if (x.duration_ns != y.duration_ns) return x.duration_ns > y.duration_ns;
    if (x.source != y.source) return x.source < y.source;
    return a.source != b.source ? a.source < b.source : a.index < b.index;
  }
};

template <typename Item>
void make_room(std::vector<Item>& column, std::size_t rows) {
  column.reserve(rows);
  prefer_large_pages(column.data(), rows * sizeof(Item));
  column.resize(rows);
}

// Neighbouring sources that one thread takes together.
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<SpanId> places;  // by track: first how many, then where the next one goes
};

std::vector<Slice> slices_of(const std::vector<Source>& sources, std::size_t rows,
                             unsigned threads) {
  std::vector<Slice> slices(1);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    taken += sources[i].rows->spans.size();
    slices.back().end = i + 1;
    if (taken * threads >= rows * slices.size() && i + 1 < sources.size()) {
      slices.push_back({i + 1, i + 1, {}});
    }
  }
  return slices;
}

// Distributes keys to tracks, keeping the order of the sources within a track.
std::vector<Key> keys_by_track(Trace& trace, const std::vector<Source>& sources, std::size_t rows,
                               unsigned threads) {
  std::vector<Slice> slices = slices_of(sources, rows, threads);
  base::in_parallel(threads, slices.size(), [&](std::size_t at) {
    Slice& slice = slices[at];
    slice.places.resize(trace.tracks.size());
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const std::vector<TrackId>& to = sources[i].to->tracks;
      for (const SpanRow& row : sources[i].rows->spans) ++slice.places[to[row.track]];
    }
  });
  SpanId next = 0;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    trace.tracks[id].first_span = next;
    for (Slice& slice : slices) next += std::exchange(slice.places[id], next);
    trace.tracks[id].span_count = next - trace.tracks[id].first_span;
  }
  std::vector<Key> keys;
  make_room(keys, rows);
  base::in_parallel(threads, slices.size(), [&](std::size_t at) {
    Slice& slice = slices[at];
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const std::vector<TrackId>& to = sources[i].to->tracks;
      const auto& spans = sources[i].rows->spans;
      for (std::size_t j = 0; j < spans.size(); ++j) {
        keys[slice.places[to[spans[j].track]]++] = {
            spans[j].start_ns, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
      }
    }
  });
  return keys;
}

// Parents by one sweep over a track's spans. The stack holds the spans that may still contain a
// later one; their ends decrease from bottom to top. A span that ends later than the top and began
// no earlier takes its place: whatever fits into the top from here on fits into the newer one too.
void set_parents(Spans& spans, const Track& track) {
  std::vector<SpanId> open;
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    while (!open.empty() && spans.end_ns(open.back()) < spans.end_ns(id)) open.pop_back();
    spans.parent[id] = open.empty() ? kNoSpan : open.back();
    open.push_back(id);
  }
}

void fill(Spans& spans, const std::vector<Source>& sources, std::span<const Key> keys,
          std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Source& source = sources[keys[i].source];
    const SpanRow& row = source.rows->spans[keys[i].index];
    spans.start_ns[i] = row.start_ns;
    spans.duration_ns[i] = row.duration_ns;
    spans.correlation[i] = row.correlation;
    spans.source[i] = row.source;
    spans.name[i] = source.to->names[row.name];
    spans.shape[i] = source.to->names[row.shape];
    spans.track[i] = source.to->tracks[row.track];
    spans.kind[i] = row.kind;
  }
}

// What only some spans have: its items name the span by its row, and by its place from here on.
template <typename Item>
void place_items(std::vector<Item>& placed, std::vector<Item> Rows::*items, const Trace& trace,
                 const std::vector<Source>& sources, std::span<const Key> keys) {
  const KeyOrder order{sources};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (Item item : sources[i].rows->*items) {
      const SpanRow& row = sources[i].rows->spans[item.span];
      const Track& track = trace.tracks[sources[i].to->tracks[row.track]];
      const auto of_track = keys.subspan(track.first_span, track.span_count);
      const Key key{row.start_ns, static_cast<std::uint32_t>(i), item.span};
      const auto at = std::lower_bound(of_track.begin(), of_track.end(), key, order);
      const auto place = static_cast<SpanId>(at - of_track.begin());
      item.span = track.first_span + place;
      placed.push_back(item);
    }
  }
  std::sort(placed.begin(), placed.end(),
            [](const Item& a, const Item& b) { return a.span < b.span; });
}

void place_sorted(Trace& trace, const std::vector<Source>& sources, std::size_t rows,
                  unsigned threads) {
  std::vector<Key> keys = keys_by_track(trace, sources, rows, threads);
  base::in_parallel(threads, trace.tracks.size(), [&](std::size_t id) {
    const Track& track = trace.tracks[id];
    base::sort_runs(std::span(keys).subspan(track.first_span, track.span_count), KeyOrder{sources});
  });

  make_room(trace.spans, rows, threads);
  constexpr std::size_t kPiece = 1U << 15;
  base::in_parallel(threads, (rows + kPiece - 1) / kPiece, [&](std::size_t piece) {
    fill(trace.spans, sources, keys, piece * kPiece, std::min(rows, (piece + 1) * kPiece));
  });
  place_items(trace.bytes, &Rows::bytes, trace, sources, keys);
  place_items(trace.scopes, &Rows::scopes, trace, sources, keys);
}

}  // namespace

void make_room(Spans& spans, std::size_t rows, unsigned threads) {
  const auto of = [rows](auto& column) { return [&column, rows] { make_room(column, rows); }; };
  const std::array<std::function<void()>, 9> columns = {
      of(spans.start_ns), of(spans.duration_ns), of(spans.correlation),
      of(spans.source),   of(spans.name),        of(spans.track),
      of(spans.parent),   of(spans.shape),       of(spans.kind)};
  base::in_parallel(threads, columns.size(), [&](std::size_t column) { columns[column](); });
}

void place_spans(Trace& trace, const std::vector<Source>& sources, unsigned threads) {
  std::size_t rows = 0;
  for (const Source& source : sources) rows += source.rows->spans.size();
  if (rows >= kNoSpan) throw base::Error("trace", "more than 4 billion spans");

  if (!place_in_order(trace, sources, rows, threads)) place_sorted(trace, sources, rows, threads);
  base::in_parallel(threads, trace.tracks.size(),
                    [&](std::size_t id) { set_parents(trace.spans, trace.tracks[id]); });
}

}  // namespace fathom::trace
