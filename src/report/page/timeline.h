#pragma once

#include <string>

#include "explain/analysis.h"
#include "report/page/page.h"

namespace fathom::report {

// The blocks that the page's timeline needs: "timeline", the spans, and "args", the arguments of
// as many as have room. web/src/timeline/decode.ts reads them.
//
// "timeline" is: the length of its head in 4 bytes (little endian), the head (JSON: begin_ns,
// spans, labels [name, kind, part, class or ""], tracks with their rows, steps, counters,
// instants), then five columns, each with its length in 4 bytes before it. A column holds whole
// numbers of 7 bits a byte, the lowest first, the eighth bit set on all bytes but the last; signed
// ones as 2n or -2n-1. Spans come row by row, by start:
//   gaps       signed: from the end of the span before it in its row; from begin_ns for the first
//   durations  ns
//   labels     name and kind, as an index into the head's labels
//   launches   of GPU work alone: 0 where no launch is known, else 1 and, signed, the place of the
//              launch (the first span's is 1) less that of the last known one
//   links      other arrows: pairs of places, each signed, less those of the pair before
// Names recur and most gaps are short, so this packs to some 7 bytes a span.
PageData page_timeline(const explain::Analysis& analysis);

}  // namespace fathom::report
