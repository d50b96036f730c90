#include "analyze/critical_path/path_segments.h"

#include <algorithm>

#include "analyze/critical_path/path_walk.h"

namespace fathom::analyze {

std::vector<PathSegment> path_segments(const trace::Trace& trace,
                                       const Dependencies& dependencies) {
  std::vector<PathSegment> segments;
  walk_path(trace, dependencies, [&](const PathSegment& segment) {
    const bool goes_on = !segments.empty() && segments.back().span == segment.span &&
                         segments.back().bound == segment.bound;
    if (goes_on) {
      segments.back().start_ns = segment.start_ns;
    } else {
      segments.push_back(segment);
    }
  });
  std::ranges::reverse(segments);
  return segments;
}

}  // namespace fathom::analyze
