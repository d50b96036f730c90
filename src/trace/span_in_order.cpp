#include "trace/span_in_order.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kChunkRows = 1U << 17;

// Neighbouring rows of one source that a thread takes together.
struct Chunk {
  const Source* source = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<SpanId> places;  // by track: first how many, then where the next one goes
  std::vector<const SpanRow*> first;
  std::vector<const SpanRow*> last;
  std::vector<SpanBytes> bytes;
  std::vector<SpanScope> scopes;
};

// What only some spans have: its items name the span by its row, and by its place from here on.
template <typename Item>
class Items {
 public:
  Items(const std::vector<Item>& all, std::size_t first_row, std::vector<Item>& placed)
      : next_(std::lower_bound(all.begin(), all.end(), first_row,
                               [](const Item& item, std::size_t row) { return item.span < row; })),
        end_(all.end()),
        placed_(placed) {}

  void place(std::size_t row, SpanId at) {
    for (; next_ != end_ && next_->span == row; ++next_) {
      placed_.push_back(*next_);
      placed_.back().span = at;
    }
  }

 private:
  typename std::vector<Item>::const_iterator next_;
  typename std::vector<Item>::const_iterator end_;
  std::vector<Item>& placed_;
};

template <typename Item>
void sort_by_span(std::vector<Item>& items) {
  const auto before = [](const Item& a, const Item& b) { return a.span < b.span; };
  if (!std::is_sorted(items.begin(), items.end(), before)) {
    std::stable_sort(items.begin(), items.end(), before);
  }
}

template <typename Item>
void gather(std::vector<Item>& into, const std::vector<Chunk>& chunks,
            std::vector<Item> Chunk::*items) {
  for (const Chunk& chunk : chunks) {
    into.insert(into.end(), (chunk.*items).begin(), (chunk.*items).end());
  }
  sort_by_span(into);
}

bool is_after(const SpanRow& a, const SpanRow& b) {
  if (a.start_ns != b.start_ns) return a.start_ns > b.start_ns;
  if (a.duration_ns != b.duration_ns) return a.duration_ns < b.duration_ns;
  return a.source > b.source;
}

std::vector<Chunk> chunks_of(const std::vector<Source>& sources) {
  std::vector<Chunk> chunks;
  for (const Source& source : sources) {
    const std::size_t rows = source.rows->spans.size();
    for (std::size_t begin = 0; begin < rows; begin += kChunkRows) {
      Chunk& chunk = chunks.emplace_back();
      chunk.source = &source;
      chunk.begin = begin;
      chunk.end = std::min(rows, begin + kChunkRows);
    }
  }
  return chunks;
}

// Counts the rows of each track; false as soon as two of one track are not in order.
bool count(Chunk& chunk, std::size_t tracks, const std::atomic<bool>& is_over) {
  chunk.places.resize(tracks);
  chunk.first.resize(tracks);
  chunk.last.resize(tracks);
  const auto& spans = chunk.source->rows->spans;
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    const SpanRow& row = spans[i];
    const TrackId track = chunk.source->to->tracks[row.track];
    const SpanRow*& last = chunk.last[track];
    if (last == nullptr) {
      chunk.first[track] = &row;
    } else if (is_after(*last, row)) {
      return false;
    }
    last = &row;
    ++chunk.places[track];
    if (i % 4096 == 0 && is_over) return false;
  }
  return true;
}

// Counts become places; false where the rows of a track are not in order from chunk to chunk.
bool set_places(std::vector<Chunk>& chunks, std::vector<Track>& tracks) {
  SpanId next = 0;
  for (TrackId id = 0; id < tracks.size(); ++id) {
    tracks[id].first_span = next;
    const SpanRow* last = nullptr;
    for (Chunk& chunk : chunks) {
      if (chunk.first[id] == nullptr) {
        chunk.places[id] = next;
        continue;
      }
      if (last != nullptr && is_after(*last, *chunk.first[id])) return false;
      last = chunk.last[id];
      next += std::exchange(chunk.places[id], next);
    }
    tracks[id].span_count = next - tracks[id].first_span;
  }
  return true;
}

void fill(Spans& spans, Chunk& chunk) {
  const Rows& rows = *chunk.source->rows;
  Items bytes(rows.bytes, chunk.begin, chunk.bytes);
  Items scopes(rows.scopes, chunk.begin, chunk.scopes);
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    const SpanRow& row = rows.spans[i];
    const TrackId track = chunk.source->to->tracks[row.track];
    const SpanId at = chunk.places[track]++;
    spans.start_ns[at] = row.start_ns;
    spans.duration_ns[at] = row.duration_ns;
    spans.correlation[at] = row.correlation;
    spans.source[at] = row.source;
    spans.name[at] = chunk.source->to->names[row.name];
    spans.shape[at] = chunk.source->to->names[row.shape];
    spans.track[at] = track;
    spans.kind[at] = row.kind;
    bytes.place(i, at);
    scopes.place(i, at);
  }
}

}  // namespace

bool place_in_order(Trace& trace, const std::vector<Source>& sources, std::size_t rows,
                    unsigned threads) {
  std::vector<Chunk> chunks = chunks_of(sources);
  // Each chunk has a place for each track: not worth it where tracks are nearly as many as rows.
  if (chunks.size() * trace.tracks.size() > rows) return false;
  std::atomic<bool> is_over = false;
  base::in_parallel(threads, chunks.size(), [&](std::size_t i) {
    if (!is_over && !count(chunks[i], trace.tracks.size(), is_over)) is_over = true;
  });
  if (is_over || !set_places(chunks, trace.tracks)) return false;

  for (const Source& source : sources) {
    sort_by_span(source.rows->bytes);
    sort_by_span(source.rows->scopes);
  }
  make_room(trace.spans, rows, threads);
  base::in_parallel(threads, chunks.size(), [&](std::size_t i) { fill(trace.spans, chunks[i]); });
  gather(trace.bytes, chunks, &Chunk::bytes);
  gather(trace.scopes, chunks, &Chunk::scopes);
  return true;
}

}  // namespace fathom::trace
