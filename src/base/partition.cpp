#include "base/partition.h"

#include <algorithm>

namespace fathom::base {
namespace {

// Those of a set that may touch `wall`: a long run has many, and a scope sees few of them.
std::span<const Interval> near(std::span<const Interval> set, Interval wall) {
  const auto first = std::partition_point(
      set.begin(), set.end(), [&](const Interval& each) { return each.end <= wall.begin; });
  const auto last = std::partition_point(
      first, set.end(), [&](const Interval& each) { return each.begin < wall.end; });
  return {first, last};
}

}  // namespace

TimeParts partition_time(Interval wall, std::span<const Interval> kernels,
                         std::span<const Interval> copies, std::span<const Interval> calls) {
  IntervalSet left;
  if (wall.begin < wall.end) left.push_back(wall);
  const auto take = [&](std::span<const Interval> set) {
    const IntervalSet taken = intersect(left, near(set, wall));
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
