#include "base/partition.h"

#include <algorithm>
#include <utility>

namespace fathom::base {

TimeSplit::Coverage::Coverage(IntervalSet set) : set_(std::move(set)) {
  before_.reserve(set_.size());
  std::int64_t length = 0;
  for (const Interval& interval : set_) {
    before_.push_back(length);
    length += interval.length();
  }
}

std::int64_t TimeSplit::Coverage::within(Interval window) const {
  return up_to(window.end) - up_to(window.begin);
}

std::int64_t TimeSplit::Coverage::up_to(std::int64_t time) const {
  const auto next =
      std::lower_bound(set_.begin(), set_.end(), time,
                       [](const Interval& interval, std::int64_t t) { return interval.begin < t; });
  if (next == set_.begin()) return 0;
  const auto last = static_cast<std::size_t>(next - set_.begin()) - 1;
  return before_[last] + std::min(set_[last].end, time) - set_[last].begin;
}

TimeSplit::TimeSplit(std::span<const Interval> kernels, std::span<const Interval> copies,
                     std::span<const Interval> calls)
    : gpu_(IntervalSet(kernels.begin(), kernels.end())),
      transfer_(subtract(copies, kernels)),
      overhead_(subtract(subtract(calls, kernels), copies)) {}

TimeParts TimeSplit::within(Interval window) const {
  TimeParts parts;
  if (window.end <= window.begin) return parts;
  parts.gpu_ns = gpu_.within(window);
  parts.transfer_ns = transfer_.within(window);
  parts.overhead_ns = overhead_.within(window);
  parts.cpu_ns = window.length() - parts.gpu_ns - parts.transfer_ns - parts.overhead_ns;
  return parts;
}

TimeParts partition_time(Interval wall, std::span<const Interval> kernels,
                         std::span<const Interval> copies, std::span<const Interval> calls) {
  return TimeSplit(touching(kernels, wall), touching(copies, wall), touching(calls, wall))
      .within(wall);
}

}  // namespace fathom::base
