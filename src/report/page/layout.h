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

struct PageTrack {
  trace::TrackId track = 0;
  std::vector<PageRow> rows;  // outermost spans first
};

// Where each span is drawn. GPU streams come first, then the main thread, then others by how much
// they have to show. Spans of one row do not overlap, but in the last of very many (kMostRows) rows
// of a track.
struct PageLayout {
  std::vector<PageTrack> tracks;
  std::vector<trace::SpanId> order;  // span at each place
  std::vector<std::uint32_t> place;  // of each span
};

inline constexpr std::uint32_t kMostRows = 256;

PageLayout page_layout(const trace::Trace& trace);

}  // namespace fathom::report
