#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace fathom::trace {

// What our own packets say about the run; it may be spread over several.
struct FathomRun {
  RunInfo info;
  std::vector<OperationSummary> operations;
  std::int64_t time_shift_ns = 0;

  void read(std::string_view message);
};

void shift_times(TracePart& part, std::int64_t by_ns);

}  // namespace fathom::trace
