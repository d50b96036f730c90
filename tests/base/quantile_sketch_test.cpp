#include "base/quantile_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fathom/detail/log_bucket.h"

namespace fathom::base::quantile_sketch_test {

TEST(LogBucket, EveryValueLiesInItsBucketAndBucketsTileTheNumbers) {
  for (std::size_t bucket = 0; bucket + 1 < detail::kLogBuckets; ++bucket) {
    const std::uint64_t first = detail::log_bucket_first(bucket);
    const std::uint64_t last = first + detail::log_bucket_width(bucket) - 1;
    ASSERT_EQ(detail::log_bucket(first), bucket);
    ASSERT_EQ(detail::log_bucket(last), bucket);
    ASSERT_EQ(detail::log_bucket_first(bucket + 1), last + 1);
  }
  EXPECT_EQ(detail::log_bucket(UINT64_MAX), detail::kLogBuckets - 1);
}

std::vector<std::uint64_t> lognormal(std::size_t count, double spread) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> distribution(10, spread);
  std::vector<std::uint64_t> values(count);
  for (auto& value : values) value = static_cast<std::uint64_t>(distribution(random));
  return values;
}

TEST(QuantileSketch, QuantilesAreWithinOnePercentOfTheExactRank) {
  for (const double spread : {0.1, 1.0, 4.0}) {
    std::vector<std::uint64_t> values = lognormal(100'000, spread);
    QuantileSketch sketch;
    for (const std::uint64_t value : values) sketch.add(value);
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.9999, 1.0}) {
      const double rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
      const auto exact = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
      EXPECT_NEAR(sketch.quantile(q), exact, exact * 0.01 + 0.5)
          << "q " << q << " spread " << spread;
    }
  }
}

TEST(QuantileSketch, MergingEqualsAddingEverything) {
  const std::vector<std::uint64_t> values = lognormal(10'000, 2.0);
  QuantileSketch whole;
  QuantileSketch left;
  QuantileSketch right;
  for (std::size_t i = 0; i < values.size(); ++i) {
    whole.add(values[i]);
    (i % 3 == 0 ? left : right).add(values[i]);
  }
  left.merge(right);
  EXPECT_EQ(left.count(), whole.count());
  for (double q = 0; q <= 1; q += 0.01) EXPECT_EQ(left.quantile(q), whole.quantile(q));
}

TEST(QuantileSketch, OneValueIsEveryQuantile) {
  QuantileSketch sketch;
  sketch.add(42);
  EXPECT_EQ(sketch.quantile(0), 42);
  EXPECT_EQ(sketch.quantile(1), 42);
}

}  // namespace fathom::base::quantile_sketch_test
