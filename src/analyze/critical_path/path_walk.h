#pragma once

#include <functional>

#include "analyze/critical_path/critical_path.h"
#include "analyze/run/wall.h"

namespace fathom::analyze {

using VisitSegment = std::function<void(const PathSegment&)>;

// Visits the segments of the critical path (critical_path.h) from the last to the first. There are
// about as many as spans, and nobody wants to keep them.
void walk_path(const trace::Trace& trace, const Dependencies& dependencies,
               const VisitSegment& visit);

// Those of the run alone: without its set-up and what an excerpt does not show, and with what the
// run has before the first and after the last of what was recorded, as unknown.
void walk_path(const trace::Trace& trace, const Dependencies& dependencies, const Wall& wall,
               const VisitSegment& visit);

}  // namespace fathom::analyze
