#include "base/duration_stats.h"

#include <algorithm>
#include <cmath>

namespace fathom::base {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

void DurationStats::add(std::int64_t ns) {
  min_ = count() == 0 ? ns : std::min(min_, ns);
  max_ = count() == 0 ? ns : std::max(max_, ns);
  sum_ += ns;
  const auto size = static_cast<Wide>(std::abs(ns));
  const Wide squares = (Wide{squares_high_} << 64 | squares_low_) + size * size;
  squares_high_ = static_cast<std::uint64_t>(squares >> 64);
  squares_low_ = static_cast<std::uint64_t>(squares);
  sketch_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

void DurationStats::merge(const DurationStats& other) {
  if (other.count() == 0) return;
  min_ = count() == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count() == 0 ? other.max_ : std::max(max_, other.max_);
  sum_ += other.sum_;
  const Wide squares = (Wide{squares_high_} << 64 | squares_low_) +
                       (Wide{other.squares_high_} << 64 | other.squares_low_);
  squares_high_ = static_cast<std::uint64_t>(squares >> 64);
  squares_low_ = static_cast<std::uint64_t>(squares);
  sketch_.merge(other.sketch_);
}

double DurationStats::mean_ns() const {
  return static_cast<double>(sum_) / static_cast<double>(std::max<std::uint64_t>(count(), 1));
}

double DurationStats::std_dev_ns() const {
  return std_dev(count(), sum_, squares_high_, squares_low_);
}

double DurationStats::quantile_ns(double q) const {
  return std::clamp(sketch_.quantile(q), static_cast<double>(min_), static_cast<double>(max_));
}

// Around the whole-number part of the mean both sums are small, so nothing cancels:
// Σ(x−m)² = Σx² − 2m·Σx + n·m², all in 128 bits, modulo 2^128, where the true value fits.
double std_dev(std::uint64_t count, std::int64_t sum, std::uint64_t squares_high,
               std::uint64_t squares_low) {
  if (count < 2) return 0;
  const Wide squares = Wide{squares_high} << 64 | squares_low;
  const auto n = static_cast<Wide>(count);
  const std::int64_t mean = sum / static_cast<std::int64_t>(count);
  const auto m = static_cast<Wide>(mean);
  const Wide around_mean = squares - 2 * m * static_cast<Wide>(sum) + n * m * m;
  const auto rest = static_cast<double>(sum - mean * static_cast<std::int64_t>(count));
  const double sum_of_squares =
      static_cast<double>(around_mean) - rest * rest / static_cast<double>(count);
  return std::sqrt(std::max(sum_of_squares, 0.0) / static_cast<double>(count - 1));
}

}  // namespace fathom::base
