#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_set.h"
#include "fathom/figures.h"

namespace fathom::base {

// The four-way split of time by the rule of fathom::TimeParts, for any number of windows. The sets
// are normalized: when a kernel ran, when a copy ran, when a thread was inside the GPU runtime.
class TimeSplit {
 public:
  TimeSplit(std::span<const Interval> kernels, std::span<const Interval> copies,
            std::span<const Interval> calls);

  // In logarithmic time. A window that ends before it begins has nothing in it.
  TimeParts within(Interval window) const;

 private:
  // A set that answers how much of any window it covers.
  class Coverage {
   public:
    explicit Coverage(IntervalSet set);
    std::int64_t within(Interval window) const;

   private:
    std::int64_t up_to(std::int64_t time) const;

    IntervalSet set_;
    std::vector<std::int64_t> before_;  // by interval: the length of all before it
  };

  // Disjoint: each instant is in the first that holds.
  Coverage gpu_;
  Coverage transfer_;
  Coverage overhead_;
};

// Of one window, looking only at what touches it: a run has many calls, and a scope sees few.
TimeParts partition_time(Interval wall, std::span<const Interval> kernels,
                         std::span<const Interval> copies, std::span<const Interval> calls);

}  // namespace fathom::base
