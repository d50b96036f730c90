#pragma once

#include <string>

#include "report/run_report.h"
#include "trace/trace.h"

namespace fathom::report {

// The page's summary document: all of the page but timeline and flame graph, as JSON.
// web/src/summary.ts says what is in it.
std::string page_summary(const RunReport& report, const trace::Trace& trace);

}  // namespace fathom::report
