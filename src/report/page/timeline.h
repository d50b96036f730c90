#pragma once

#include <cstdint>

#include "explain/analysis.h"
#include "report/page/page.h"

namespace fathom::report {

// From the first start to the last end of all that the timeline draws: spans, and what counters and
// memory show before and after them.
struct PageExtent {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

PageExtent page_extent(const trace::Trace& trace);

// How large the timeline may get: page_layout says what is left out.
struct TimelineSize {
  std::size_t most_spans = SIZE_MAX;
  std::size_t most_args_bytes = 1 << 20;
};

// The blocks that the page's timeline needs: "timeline", the spans; "args", the arguments of as
// many as have room; and "critical_path" (path.h). web/src/timeline/decode.ts reads them.
//
// "timeline" is a head (JSON: begin_ns, length_ns, least_host_ns, spans, labels [name, kind, part,
// class or ""], tracks with their rows, steps, counters, instants), then five columns (packed.h).
// Spans come row by row, by start:
//   gaps       signed: from the end of the span before it in its row; from begin_ns for the first
//   durations  ns
//   labels     name and kind, as an index into the head's labels
//   launches   of GPU work alone: 0 where no launch is known, else 1 and, signed, the place of the
//              launch (the first span's is 1) less that of the last known one
//   links      other arrows: pairs of places, each signed, less those of the pair before
// Names recur and most gaps are short, so this packs to some 7 bytes per span.
PageData page_timeline(const explain::Analysis& analysis, const TimelineSize& size = {});

}  // namespace fathom::report
