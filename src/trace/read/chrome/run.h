#pragma once

#include <vector>

#include "trace/read/chrome/rows.h"

namespace fathom::trace {

// What the outermost object says about the run. What is missing or not of the right type is absent.
RunInfo run_info_of(const std::vector<HeadingValue>& heading);

}  // namespace fathom::trace
