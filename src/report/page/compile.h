#pragma once

#include <string>

#include "report/compile_report.h"
#include "report/page/page.h"

namespace fathom::report {

// The page of the logs alone, with the tab Compile, and blocks of others. Its block "compile" is
// what to_json writes.
std::string compile_page(const CompileReport& report, const PageData& others = {});

}  // namespace fathom::report
