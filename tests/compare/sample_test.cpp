#include "compare/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fathom::compare::sample_test {

TEST(Sample, OfAFewCallsIsAsUnsureAsTheyDiffer) {
  EXPECT_FALSE(sample_of(std::vector<std::int64_t>{100}).log_centre_sd);
  EXPECT_DOUBLE_EQ(*sample_of(std::vector<std::int64_t>{100, 100, 101}).log_centre_sd, 0.05);
  EXPECT_GT(*sample_of(std::vector<std::int64_t>{80'000, 4'000'000, 90'000}).log_centre_sd, 1);
}

TEST(Sample, QuantilesAreTheCallsThemselvesOrEqualSharesOfThem) {
  const Sample few = sample_of(std::vector<std::int64_t>{300, 100, 200});
  ASSERT_EQ(few.log_quantiles.size(), 3U);
  EXPECT_NEAR(std::exp(few.log_quantiles[1]), 200, 0.01);
  std::vector<std::int64_t> many;
  for (int i = 1; i <= 6400; ++i) many.push_back(i);
  const Sample sample = sample_of(many);
  ASSERT_EQ(sample.log_quantiles.size(), 64U);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(std::exp(sample.log_quantiles[i]), 100.0 * static_cast<double>(i) + 51, 1);
  }
}

TEST(Sample, TellsTwoLevelsAndHowManyCallsAreOnTheUpper) {
  std::vector<std::int64_t> calls;
  for (int i = 0; i < 100; ++i) calls.push_back((i % 4 == 0 ? 1500 : 1000) + i % 3);
  const Sample sample = sample_of(calls);
  ASSERT_TRUE(sample.modes);
  EXPECT_NEAR(sample.modes->slow_share, 0.25, 1e-9);
  EXPECT_NEAR(sample.modes->log_distance, std::log(1.5), 0.01);
}

// Calls of two places, put one behind the other, are not a series that moves slowly.
TEST(Sample, OnlyCallsOfOnePlaceDependOnEachOther) {
  std::vector<std::int64_t> ns;
  for (int i = 0; i < 50; ++i) ns.push_back(10'000 + i % 7);
  for (int i = 0; i < 50; ++i) ns.push_back(11'200 + i % 7);
  const std::vector<std::size_t> sites = {0, 50};
  EXPECT_LT(*sample_of(ns, sites).log_centre_sd, 0.5 * *sample_of(ns).log_centre_sd);
}

}  // namespace fathom::compare::sample_test
