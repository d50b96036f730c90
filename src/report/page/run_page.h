#pragma once

#include <string>

#include "explain/analysis.h"
#include "report/page/page.h"

namespace fathom::report {

// The page of a trace with all its views: summary, timeline and flame graph; and blocks of others.
std::string run_page(const explain::Analysis& analysis, const PageData& others = {});

}  // namespace fathom::report
