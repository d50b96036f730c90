#pragma once

#include <string>
#include <string_view>

#include "explain/analysis.h"
#include "report/page/page.h"

namespace fathom::report {

// The page of a trace with all its views: summary, timeline and flame graph; and blocks of others.
// It opens on the tab `start`, as page_html says.
std::string run_page(const explain::Analysis& analysis, const PageData& others = {},
                     std::string_view start = {});

}  // namespace fathom::report
