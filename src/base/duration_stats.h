#pragma once

#include <cstdint>

#include "base/quantile_sketch.h"

namespace fathom::base {

// Streaming statistics of durations. Count, sum, minimum, maximum and the sum of squares are exact
// integers, so the standard deviation has no rounding of its own however many there are.
class DurationStats {
 public:
  void add(std::int64_t ns);
  void merge(const DurationStats& other);  // as if all of the other's had been added

  std::uint64_t count() const { return sketch_.count(); }
  std::int64_t sum_ns() const { return sum_; }
  std::int64_t min_ns() const { return min_; }
  std::int64_t max_ns() const { return max_; }
  double mean_ns() const;
  double std_dev_ns() const;  // of the sample (n − 1); 0 for fewer than two

  // Within 0.8 %, and never outside [min, max].
  double quantile_ns(double q) const;

 private:
  std::int64_t sum_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  std::uint64_t squares_low_ = 0;  // 128-bit sum of squares
  std::uint64_t squares_high_ = 0;
  QuantileSketch sketch_;
};

// Sample standard deviation from exact sums: √((n·Σx² − (Σx)²) / (n·(n−1))).
double std_dev(std::uint64_t count, std::int64_t sum, std::uint64_t squares_high,
               std::uint64_t squares_low);

}  // namespace fathom::base
