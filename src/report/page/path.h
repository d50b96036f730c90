#pragma once

#include <string>

#include "explain/analysis.h"
#include "report/page/layout.h"

namespace fathom::report {

// The block "critical_path": what the timeline needs to draw it, of a trace with GPU work; empty of
// others. web/src/timeline/path.ts reads it.
//
// A head (JSON: begin_ns from `begin_ns`, least_ns, bounds [{name, label, part, ns}]), then three
// columns (packed.h), a number per segment in order of time; each begins where the one before ends.
// A path has 60,000 at most: in a longer one those that follow each other and are shorter than
// least_ns stand together, as what took the longest of them. The times of the bounds are exact.
//   durations  ns
//   bounds     twice the index of what it was spent on, and 1 more where a span is known
//   spans      of these alone, signed: its place less that of the one before
std::string page_path(const explain::Analysis& analysis, const PageLayout& layout,
                      std::int64_t begin_ns);

}  // namespace fathom::report
