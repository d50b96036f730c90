#include "analyze/critical_path/critical_path.h"

#include <algorithm>

#include "analyze/critical_path/path_walk.h"
#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;

// Adds up the path as it is walked, from its end to its begin.
class PathSums {
 public:
  PathSums(const trace::Trace& trace, const std::vector<SpanId>& steps)
      : trace_(trace), table_((trace.names.size() + 1) * kBoundCount) {
    for (const SpanId step : steps) {
      cuts_.push_back({trace.spans.start_ns[step], {}});
      cuts_.push_back({trace.spans.end_ns(step), {}});
    }
    std::sort(cuts_.begin(), cuts_.end(),
              [](const Cut& a, const Cut& b) { return a.time_ns > b.time_ns; });
  }

  void add(const PathSegment& segment) {
    while (next_cut_ < cuts_.size() && cuts_[next_cut_].time_ns >= segment.start_ns) {
      Cut& cut = cuts_[next_cut_++];
      cut.after = sum_;
      cut.after[static_cast<std::size_t>(segment.bound)] +=
          std::max<std::int64_t>(0, segment.end_ns - cut.time_ns);
    }
    const std::int64_t ns = segment.end_ns - segment.start_ns;
    sum_[static_cast<std::size_t>(segment.bound)] += ns;
    const std::size_t name =
        segment.span == kNoSpan ? trace_.names.size() : trace_.spans.name[segment.span];
    Row& row = table_[name * kBoundCount + static_cast<std::size_t>(segment.bound)];
    row.path_ns += ns;
    ++row.segments;
    if (is_empty()) time_.end = segment.end_ns;
    time_.begin = segment.start_ns;
  }

  bool is_empty() const { return time_.length() == 0; }
  base::Interval time() const { return time_; }
  const BoundTimes& all() const { return sum_; }

  // Between two times at which steps begin or end.
  BoundTimes between(std::int64_t from_ns, std::int64_t to_ns) const {
    BoundTimes times = after(from_ns);
    const BoundTimes beyond = after(to_ns);
    for (std::size_t i = 0; i < times.size(); ++i) times[i] -= beyond[i];
    return times;
  }

  std::vector<PathOperation> operations() const {
    std::vector<PathOperation> found;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (table_[i].segments == 0) continue;
      const auto name = static_cast<trace::NameId>(i / kBoundCount);
      const std::string_view text =
          name < trace_.names.size() ? trace_.names.view(name) : std::string_view();
      found.push_back({std::string(text), static_cast<Bound>(i % kBoundCount), table_[i].path_ns,
                       table_[i].segments});
    }
    std::sort(found.begin(), found.end(), [](const PathOperation& a, const PathOperation& b) {
      if (a.path_ns != b.path_ns) return a.path_ns > b.path_ns;
      if (a.name != b.name) return a.name < b.name;
      return a.bound < b.bound;
    });
    return found;
  }

 private:
  struct Cut {
    std::int64_t time_ns = 0;
    BoundTimes after = {};  // the path from here to its end
  };
  struct Row {
    std::int64_t path_ns = 0;
    std::uint64_t segments = 0;
  };

  const BoundTimes& after(std::int64_t time_ns) const {
    const auto cut = std::partition_point(cuts_.begin(), cuts_.end(),
                                          [&](const Cut& one) { return one.time_ns > time_ns; });
    const bool is_before_all = static_cast<std::size_t>(cut - cuts_.begin()) >= next_cut_;
    return is_before_all ? sum_ : cut->after;
  }

  const trace::Trace& trace_;
  std::vector<Row> table_;  // by name and bound; the last name is none
  std::vector<Cut> cuts_;   // where steps begin or end, the last first
  std::size_t next_cut_ = 0;
  BoundTimes sum_ = {};
  base::Interval time_;
};

CriticalPath sum_path(const trace::Trace& trace, const auto& walk) {
  const std::vector<SpanId> steps = step_spans(trace);
  PathSums sums(trace, steps);
  walk([&](const PathSegment& segment) { sums.add(segment); });
  CriticalPath path;
  if (sums.is_empty()) return path;
  path.begin_ns = sums.time().begin;
  path.end_ns = sums.time().end;
  path.operations = sums.operations();
  path.bound_by = sums.all();
  for (const SpanId id : steps) {
    const std::int64_t from = trace.spans.start_ns[id];
    const std::int64_t to = trace.spans.end_ns(id);
    path.steps.push_back({std::string(trace.name(id)), from, to, sums.between(from, to)});
  }
  return path;
}

}  // namespace

CriticalPath critical_path(const trace::Trace& trace, const Dependencies& dependencies) {
  return sum_path(trace, [&](const VisitSegment& visit) { walk_path(trace, dependencies, visit); });
}

CriticalPath critical_path(const trace::Trace& trace, const Dependencies& dependencies,
                           const Wall& wall) {
  CriticalPath path = sum_path(
      trace, [&](const VisitSegment& visit) { walk_path(trace, dependencies, wall, visit); });
  if (path.end_ns == path.begin_ns) return path;
  path.begin_ns = wall.time.begin;
  path.end_ns = wall.time.end;
  path.apart_ns = wall.set_up_ns() + wall.unknown_ns();
  return path;
}

CriticalPath critical_path(const trace::Trace& trace) {
  return critical_path(trace, dependencies(trace));
}

}  // namespace fathom::analyze
