#pragma once

#include <string>

#include "report/compile_report.h"

namespace fathom::report {

// The page of the logs alone, with the tab Compile. Its block "compile" is what to_json writes.
std::string compile_page(const CompileReport& report);

}  // namespace fathom::report
