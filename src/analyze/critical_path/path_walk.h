#pragma once

#include <vector>

#include "analyze/critical_path/critical_path.h"

namespace fathom::analyze {

// The segments of the critical path (critical_path.h), in order.
std::vector<PathSegment> walk_path(const trace::Trace& trace, const Dependencies& dependencies);

}  // namespace fathom::analyze
