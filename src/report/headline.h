#pragma once

#include <string>

#include "report/run_report.h"

namespace fathom::report {

// The run in one line: what, where, which rank, how long.
std::string headline(const RunReport& report, const trace::Trace& trace);

}  // namespace fathom::report
