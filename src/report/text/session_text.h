#pragma once

#include <string>
#include <vector>

#include "report/run_report.h"

namespace fathom::report {

// A run as people read it: the story in a sentence, where its time went, and the tables.
std::string session_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                         std::size_t width, KernelRows kernels = KernelRows::by_name);

// Several runs of one program side by side, and what is typical of them.
std::string sessions_text(const std::vector<ProfileSession>& sessions, std::size_t width);

}  // namespace fathom::report
