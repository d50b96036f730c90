#pragma once

#include <functional>

#include "analyze/critical_path/critical_path.h"

namespace fathom::analyze {

using VisitSegment = std::function<void(const PathSegment&)>;

// Visits the segments of the critical path (critical_path.h) from the last to the first. There are
// about as many as spans, and nobody wants to keep them.
void walk_path(const trace::Trace& trace, const Dependencies& dependencies,
               const VisitSegment& visit);

}  // namespace fathom::analyze
