#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/quantile_sketch.h"
#include "fathom/monitor.h"

namespace fathom::monitor {

// How long requests took. Count and sum are exact (in whole nanoseconds); quantiles are within
// 0.8 %.
class InferenceStats {
 public:
  // What came in since it was taken last; small, so that it can be written down often.
  struct Part {
    std::uint64_t count = 0;
    std::int64_t sum_ns = 0;
    std::int64_t min_ns = 0;
    std::int64_t max_ns = 0;
    std::map<std::size_t, std::uint64_t> sketch;  // by fathom::detail::log_bucket
    std::vector<std::uint64_t> buckets;           // by bucket_limits_ms(), and one for the rest
  };

  // What is not a duration is left out.
  void add(double milliseconds);
  void add(const Part& part);
  InferenceFigures figures() const;

  static Part part_of(double milliseconds);  // with count 0 where it is not a duration
  static void merge(Part& into, const Part& other);
  static const std::vector<double>& bucket_limits_ms();

 private:
  std::uint64_t count_ = 0;
  std::int64_t sum_ns_ = 0;
  std::int64_t min_ns_ = 0;
  std::int64_t max_ns_ = 0;
  base::QuantileSketch sketch_;
  std::vector<std::uint64_t> buckets_;
};

}  // namespace fathom::monitor
