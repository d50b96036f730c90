#pragma once

#include <cstdint>
#include <deque>

namespace fathom::record::cuda {

// The same instant on CUPTI's clock and on ours.
struct ClockPair {
  std::int64_t cupti_ns = 0;
  std::int64_t ours_ns = 0;
};

// From CUPTI's clock (CLOCK_REALTIME unless it takes ours) to CLOCK_MONOTONIC_RAW: exact at the
// instants both were read, straight between two of them, in step with the nearest one beyond.
// Without any pair the clocks are the same.
class ClockMap {
 public:
  void add(ClockPair pair);  // in the order they were read
  std::int64_t ours(std::int64_t cupti_ns) const;

 private:
  std::deque<ClockPair> pairs_;
};

}  // namespace fathom::record::cuda
