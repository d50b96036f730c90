#pragma once

#include <span>
#include <string>

#include "report/hta_report.h"
#include "report/page/rank_timelines.h"
#include "report/run_report.h"
#include "trace/trace.h"

namespace fathom::report {

// The page's summary document: all of the page but timeline and flame graph, as JSON.
// web/src/summary.ts says what is in it.
std::string page_summary(const explain::Analysis& analysis);

// The same of the ranks of a job, of which there are findings and what the page draws, and no
// trace.
std::string page_summary(const HtaReport& hta, std::span<const PlacedTimeline> ranks);

}  // namespace fathom::report
