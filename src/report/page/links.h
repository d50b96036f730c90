#pragma once

#include <vector>

#include "trace/trace.h"

namespace fathom::report {

// An arrow of the timeline, other than from a launch to its work.
struct PageLink {
  trace::SpanId from = trace::kNoSpan;
  trace::SpanId to = trace::kNoSpan;
};

// The flows of a trace (forward to backward, and whatever else a tracer linked), from each point to
// the next of the same flow. A point belongs to the innermost span of its track that holds it; what
// is in none links nothing. In the order in which they begin, `most` at most.
std::vector<PageLink> page_links(const trace::Trace& trace, std::size_t most = 200'000);

}  // namespace fathom::report
