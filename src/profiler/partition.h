#pragma once

#include <cstdint>
#include <span>

#include "base/interval_set.h"

namespace fathom::detail {

// What a scope's wall time went to; the four add up to it, to the nanosecond.
struct TimeParts {
  std::int64_t gpu = 0;
  std::int64_t transfer = 0;
  std::int64_t overhead = 0;
  std::int64_t cpu = 0;

  bool operator==(const TimeParts&) const = default;
};

// Each instant of `wall` belongs to the first that holds: a kernel runs, a copy runs, the thread is
// inside a call of the GPU runtime, none of these.
TimeParts partition_time(base::Interval wall, std::span<const base::Interval> kernels,
                         std::span<const base::Interval> copies,
                         std::span<const base::Interval> calls);

}  // namespace fathom::detail
