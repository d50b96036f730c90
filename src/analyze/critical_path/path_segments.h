#pragma once

#include <vector>

#include "analyze/critical_path/critical_path.h"

namespace fathom::analyze {

// The segments of the critical path (critical_path.h) in order of time, without a hole: set-up too,
// which the sums leave out. Pieces of one span that follow each other are one. There may be as many
// as spans.
std::vector<PathSegment> path_segments(const trace::Trace& trace, const Dependencies& dependencies);

}  // namespace fathom::analyze
