#pragma once

#include <cstdint>
#include <span>

#include "base/interval_set.h"

namespace fathom::base {

// What a stretch of wall time went to; the four add up to it, to the nanosecond.
struct TimeParts {
  std::int64_t gpu = 0;
  std::int64_t transfer = 0;
  std::int64_t overhead = 0;
  std::int64_t cpu = 0;

  bool operator==(const TimeParts&) const = default;
};

// Each instant of `wall` belongs to the first that holds: a kernel runs, a copy runs, a thread is
// inside a call of the GPU runtime, none of these. The sets are normalized.
TimeParts partition_time(Interval wall, std::span<const Interval> kernels,
                         std::span<const Interval> copies, std::span<const Interval> calls);

}  // namespace fathom::base
