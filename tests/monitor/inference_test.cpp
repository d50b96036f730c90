#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "monitor/inference_stats.h"

namespace fathom::monitor {
namespace {

TEST(InferenceStats, CountAndSumAreExact) {
  InferenceStats stats;
  for (int i = 0; i < 1'000'000; ++i) stats.add(0.1);
  const InferenceFigures figures = stats.figures();
  EXPECT_EQ(figures.count, 1'000'000u);
  EXPECT_EQ(figures.sum_ms, 100'000.0) << "not what a sum of doubles would be";
}

TEST(InferenceStats, QuantilesAreWithinOnePercent) {
  std::mt19937 random(7);
  std::lognormal_distribution<> time(3, 1);
  std::vector<double> all;
  InferenceStats stats;
  for (int i = 0; i < 10'000; ++i) {
    all.push_back(time(random));
    stats.add(all.back());
  }
  std::ranges::sort(all);
  const InferenceFigures figures = stats.figures();
  EXPECT_NEAR(*figures.p50_ms, all[4999], 0.01 * all[4999]);
  EXPECT_NEAR(*figures.p95_ms, all[9499], 0.01 * all[9499]);
  EXPECT_NEAR(*figures.p99_ms, all[9899], 0.01 * all[9899]);
  EXPECT_NEAR(*figures.min_ms, all.front(), 1e-6);
  EXPECT_NEAR(*figures.max_ms, all.back(), 1e-6);
}

TEST(InferenceStats, BucketsAreCumulative) {
  InferenceStats stats;
  for (const double ms : {0.5, 1.0, 1.5, 30.0, 99'999.0}) stats.add(ms);
  const auto buckets = stats.figures().buckets;
  EXPECT_EQ(buckets.front(), std::make_pair(1.0, std::uint64_t{2})) << "a limit is within";
  EXPECT_EQ(buckets[1], std::make_pair(2.0, std::uint64_t{3}));
  EXPECT_EQ(buckets.back().second, 4u) << "what is above all of them is only in the count";
  EXPECT_TRUE(std::ranges::is_sorted(buckets, {}, [](const auto& each) { return each.second; }));
}

TEST(InferenceStats, WithoutRequestsNothingIsKnown) {
  const InferenceFigures figures = InferenceStats().figures();
  EXPECT_EQ(figures.count, 0u);
  EXPECT_FALSE(figures.mean_ms);
  EXPECT_FALSE(figures.p50_ms);
}

TEST(InferenceStats, WhatIsNotADurationIsLeftOut) {
  InferenceStats stats;
  for (const double ms : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    stats.add(ms);
  }
  EXPECT_EQ(stats.figures().count, 0u);
}

TEST(InferenceStats, PartsAddUp) {
  InferenceStats whole;
  InferenceStats::Part part;
  for (int i = 1; i <= 100; ++i) {
    whole.add(i);
    InferenceStats::merge(part, InferenceStats::part_of(i));
  }
  InferenceStats joined;
  joined.add(part);
  EXPECT_EQ(joined.figures().sum_ms, whole.figures().sum_ms);
  EXPECT_EQ(joined.figures().p95_ms, whole.figures().p95_ms);
  EXPECT_EQ(joined.figures().buckets, whole.figures().buckets);
}

}  // namespace
}  // namespace fathom::monitor
