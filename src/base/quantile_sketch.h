#pragma once

#include <cstdint>
#include <vector>

namespace fathom::base {

// Counts of non-negative values in logarithmic buckets. A quantile is within 0.8 % of the value
// that has that rank; two sketches merge into the sketch of all their values, without loss.
class QuantileSketch {
 public:
  void add(std::uint64_t value, std::uint64_t count = 1);
  void add_bucket(std::size_t bucket, std::uint64_t count);  // as fathom::detail::log_bucket
  void merge(const QuantileSketch& other);

  std::uint64_t count() const { return count_; }

  // The value of rank ⌈q·count⌉, 0 ≤ q ≤ 1. Call only when count() > 0.
  double quantile(double q) const;

 private:
  // Only the buckets from the smallest to the largest in use are kept: durations of one operation
  // lie close together, and there may be many thousand operations.
  std::vector<std::uint64_t> buckets_;
  std::size_t first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace fathom::base
