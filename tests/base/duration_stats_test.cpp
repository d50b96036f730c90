#include "base/duration_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace fathom::base::duration_stats_test {

// Two passes in extended precision: the definition.
double exact_std_dev(const std::vector<std::int64_t>& values) {
  long double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<long double>(value);
  const long double mean = sum / static_cast<long double>(values.size());
  long double squares = 0;
  for (const std::int64_t value : values) {
    const long double d = static_cast<long double>(value) - mean;
    squares += d * d;
  }
  return static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size() - 1)));
}

TEST(DurationStats, StandardDeviationSurvivesALargeMeanAndASmallSpread) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<std::int64_t> jitter(0, 9);
  std::vector<std::int64_t> values(200'000);
  for (auto& value : values) value = 3'600'000'000'000 + jitter(random);
  DurationStats stats;
  for (const std::int64_t value : values) stats.add(value);
  const double exact = exact_std_dev(values);
  EXPECT_NEAR(stats.std_dev_ns(), exact, exact * 1e-9);
}

TEST(DurationStats, CountSumMinMaxAreExact) {
  DurationStats stats;
  for (const std::int64_t value : {5, 1, 9, 9}) stats.add(value);
  EXPECT_EQ(stats.count(), 4U);
  EXPECT_EQ(stats.sum_ns(), 24);
  EXPECT_EQ(stats.min_ns(), 1);
  EXPECT_EQ(stats.max_ns(), 9);
  EXPECT_DOUBLE_EQ(stats.mean_ns(), 6);
  EXPECT_DOUBLE_EQ(stats.std_dev_ns(), std::sqrt(44.0 / 3));
}

TEST(DurationStats, MergedIsAsIfAllHadBeenAdded) {
  DurationStats all;
  DurationStats odd;
  DurationStats even;
  for (std::int64_t value = 1'000; value < 5'000; value += 7) {
    all.add(value);
    (value % 2 == 0 ? even : odd).add(value);
  }
  DurationStats merged;
  merged.merge(odd);
  merged.merge({});
  merged.merge(even);
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.sum_ns(), all.sum_ns());
  EXPECT_EQ(merged.min_ns(), all.min_ns());
  EXPECT_EQ(merged.max_ns(), all.max_ns());
  EXPECT_EQ(merged.std_dev_ns(), all.std_dev_ns());
  EXPECT_EQ(merged.quantile_ns(0.9), all.quantile_ns(0.9));
}

TEST(DurationStats, OneValueHasNoSpread) {
  DurationStats stats;
  stats.add(1'000'003);
  EXPECT_EQ(stats.std_dev_ns(), 0);
  EXPECT_EQ(stats.quantile_ns(0.99), 1'000'003);
}

}  // namespace fathom::base::duration_stats_test
