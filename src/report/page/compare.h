#pragma once

#include "compare/flame_change.h"
#include "report/comparison_report.h"
#include "report/page/page.h"

namespace fathom::report {

// The blocks of a page that is a comparison: "summary" with little in it, "compare", which
// web/src/compare/data.ts describes, and "flame_change".
PageData page_compare(const ComparisonReport& report, const compare::FlameChange& flame);

}  // namespace fathom::report
