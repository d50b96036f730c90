#include "base/partition.h"

namespace fathom::base {

TimeParts partition_time(Interval wall, std::span<const Interval> kernels,
                         std::span<const Interval> copies, std::span<const Interval> calls) {
  IntervalSet left;
  if (wall.begin < wall.end) left.push_back(wall);
  const auto take = [&](std::span<const Interval> set) {
    const IntervalSet taken = intersect(left, touching(set, wall));
    left = subtract(left, taken);
    return total_length(taken);
  };
  TimeParts parts;
  parts.gpu = take(kernels);
  parts.transfer = take(copies);
  parts.overhead = take(calls);
  parts.cpu = total_length(left);
  return parts;
}

}  // namespace fathom::base
