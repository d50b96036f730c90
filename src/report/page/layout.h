#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace fathom::report {

// A line of the drawn timeline.
struct PageRow {
  std::uint32_t first = 0;  // its spans are order[first, first + count), by start
  std::uint32_t count = 0;
};

// What the user calls a stretch of time stands in a lane of its own, beside what ran in it.
enum class PageLane : std::uint8_t { work, annotations };

struct PageTrack {
  trace::TrackId track = 0;
  PageLane lane = PageLane::work;
  std::vector<PageRow> rows;  // outermost spans first
  // Of its rows, the first ones in which one span lasts nearly as long as all of the track, and
  // next to nothing is beside it: `main`, `train`, … A single one is not counted.
  std::uint32_t frames = 0;
  // A thread that does next to nothing: no launch, and busy for less than 0.1 % of the trace, or
  // with nothing but frames, even a single one. The thread that has the most to show never is.
  bool is_quiet = false;
};

inline constexpr std::uint32_t kNoPlace = UINT32_MAX;

// Where each span is drawn. GPU streams come first, then the main thread, then others by how much
// they have to show. Spans of one row do not overlap, but in the last of very many (kMostRows) rows
// of a track.
struct PageLayout {
  std::vector<PageTrack> tracks;
  std::vector<trace::SpanId> order;  // span at each place
  std::vector<std::uint32_t> place;  // of each span; kNoPlace where it is left out
  std::int64_t least_host_ns = 0;    // shorter work of the host is left out; 0: nothing is
};

inline constexpr std::uint32_t kMostRows = 256;

// At most about `most_spans`: where there are more, the shortest work of the host is left out. GPU
// work, annotations and calls that launched or waited for GPU work always stay.
PageLayout page_layout(const trace::Trace& trace, std::size_t most_spans = SIZE_MAX);

}  // namespace fathom::report
