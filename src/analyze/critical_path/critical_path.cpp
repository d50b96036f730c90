#include "analyze/critical_path/critical_path.h"

#include <algorithm>

#include "analyze/critical_path/path_walk.h"
#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;

BoundTimes bound_times(const std::vector<PathSegment>& segments, std::int64_t from_ns,
                       std::int64_t to_ns) {
  BoundTimes times = {};
  auto at = std::partition_point(segments.begin(), segments.end(),
                                 [&](const PathSegment& s) { return s.end_ns <= from_ns; });
  for (; at != segments.end() && at->start_ns < to_ns; ++at) {
    times[static_cast<std::size_t>(at->bound)] +=
        std::min(at->end_ns, to_ns) - std::max(at->start_ns, from_ns);
  }
  return times;
}

std::vector<PathOperation> path_operations(const trace::Trace& trace,
                                           const std::vector<PathSegment>& segments) {
  const std::size_t nameless = trace.names.size();
  struct Row {
    std::int64_t path_ns = 0;
    std::uint64_t segments = 0;
  };
  std::vector<Row> table((nameless + 1) * kBoundCount);
  for (const PathSegment& segment : segments) {
    const std::size_t name = segment.span == kNoSpan ? nameless : trace.spans.name[segment.span];
    Row& row = table[name * kBoundCount + static_cast<std::size_t>(segment.bound)];
    row.path_ns += segment.end_ns - segment.start_ns;
    ++row.segments;
  }
  std::vector<PathOperation> found;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].segments == 0) continue;
    const std::size_t name = i / kBoundCount;
    const std::string_view text =
        name < nameless ? trace.names.view(static_cast<trace::NameId>(name)) : std::string_view();
    found.push_back({std::string(text), static_cast<Bound>(i % kBoundCount), table[i].path_ns,
                     table[i].segments});
  }
  std::sort(found.begin(), found.end(), [](const PathOperation& a, const PathOperation& b) {
    if (a.path_ns != b.path_ns) return a.path_ns > b.path_ns;
    if (a.name != b.name) return a.name < b.name;
    return a.bound < b.bound;
  });
  return found;
}

}  // namespace

CriticalPath critical_path(const trace::Trace& trace, const Dependencies& dependencies) {
  CriticalPath path;
  path.segments = walk_path(trace, dependencies);
  if (path.segments.empty()) return path;
  path.begin_ns = path.segments.front().start_ns;
  path.end_ns = path.segments.back().end_ns;
  path.operations = path_operations(trace, path.segments);
  for (const PathOperation& operation : path.operations) {
    path.bound_by[static_cast<std::size_t>(operation.bound)] += operation.path_ns;
  }
  for (const SpanId id : step_spans(trace)) {
    const std::int64_t from = trace.spans.start_ns[id];
    const std::int64_t to = trace.spans.end_ns(id);
    path.steps.push_back(
        {std::string(trace.name(id)), from, to, bound_times(path.segments, from, to)});
  }
  return path;
}

CriticalPath critical_path(const trace::Trace& trace) {
  return critical_path(trace, dependencies(trace));
}

}  // namespace fathom::analyze
