#pragma once

#include <utility>
#include <vector>

#include "trace/builder.h"

namespace fathom::trace {

// What the numbers of one part are in the whole.
struct Renumbering {
  std::vector<NameId> names;
  std::vector<TrackId> tracks;
};

// Rows, and how to read their numbers.
struct Source {
  Rows* rows = nullptr;
  const Renumbering* to = nullptr;
};

// Makes the columns `rows` long.
void make_room(Spans& spans, std::size_t rows, unsigned threads);

// Puts all spans of `sources` into the trace: columns sorted, tracks knowing their spans, parents
// and bytes set. trace.tracks is complete by then.
void place_spans(Trace& trace, const std::vector<Source>& sources, unsigned threads);

}  // namespace fathom::trace
