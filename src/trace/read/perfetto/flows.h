#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace fathom::trace {

// Flow ids that events carry. An id's first event in time begins the flow and its last, or one that
// says so, ends it; so what is what is known only when all were seen.
class PerfettoFlows {
 public:
  explicit PerfettoFlows(TracePart& part) : part_(part) {}

  // Takes the flow ids of a TrackEvent message; `row` says when and where it is.
  void add(std::string_view event, const SpanRow& row);
  void finish();

 private:
  struct Point {
    std::uint64_t id = 0;
    std::int64_t time_ns = 0;
    std::uint32_t track = 0;
    bool ends = false;
  };

  TracePart& part_;
  std::vector<Point> points_;
};

}  // namespace fathom::trace
