#include "profiler/operation_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace fathom::detail::operation_stats_test {

// Durations as programs have them: a few nanoseconds to minutes, in ticks.
std::vector<std::uint64_t> random_durations(std::size_t count) {
  std::mt19937_64 random(20261115);
  std::lognormal_distribution<double> usual(9.0, 2.5);
  std::vector<std::uint64_t> durations(count);
  for (std::uint64_t& duration : durations) {
    duration = static_cast<std::uint64_t>(usual(random));
    if (random() % 100'000 == 0) duration += OperationStats::kLong * 3;
  }
  return durations;
}

void add(OperationStats& stats, std::uint64_t duration) {
  if (duration >= OperationStats::kLong) {
    stats.add_long(duration, duration / 2);
  } else {
    stats.add(duration, duration / 2);
  }
}

TEST(OperationStats, AgreeWithAnExactReferenceOnMillionsOfDurations) {
  std::vector<std::uint64_t> durations = random_durations(2'000'000);
  auto stats = std::make_unique<OperationStats>();
  for (const std::uint64_t duration : durations) add(*stats, duration);
  const Statistics seen = stats->snapshot();

  std::uint64_t total = 0;
  std::uint64_t self = 0;
  for (const std::uint64_t duration : durations) {
    total += duration;
    self += duration / 2;
  }
  const long double mean =
      static_cast<long double>(total) / static_cast<long double>(durations.size());
  long double spread = 0;
  for (const std::uint64_t duration : durations) {
    const long double off = static_cast<long double>(duration) - mean;
    spread += off * off;
  }
  const auto deviation =
      static_cast<double>(std::sqrt(spread / static_cast<long double>(durations.size())));
  std::sort(durations.begin(), durations.end());

  EXPECT_EQ(seen.count, durations.size());
  EXPECT_EQ(seen.total, total);
  EXPECT_EQ(seen.self, self);
  EXPECT_EQ(seen.shortest, durations.front());
  EXPECT_EQ(seen.longest, durations.back());
  EXPECT_NEAR(seen.standard_deviation() / deviation, 1, 1e-9);
  for (const double q : {0.5, 0.95, 0.99}) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(q * static_cast<double>(durations.size())));
    const auto exact = static_cast<double>(durations[rank - 1]);
    EXPECT_NEAR(seen.quantile(q) / exact, 1, 0.01) << q;
  }
}

TEST(OperationStats, CountsEveryDurationHoweverFew) {
  for (std::uint64_t count = 1; count < 200; ++count) {
    OperationStats stats;
    for (std::uint64_t i = 1; i <= count; ++i) stats.add(i, i);
    const Statistics seen = stats.snapshot();
    ASSERT_EQ(seen.count, count);
    ASSERT_EQ(seen.sketch.count(), count);
    ASSERT_EQ(seen.longest, count);
  }
}

TEST(OperationStats, StartAgainAfterClear) {
  OperationStats stats;
  for (int i = 0; i < 100; ++i) stats.add(1000, 1000);
  stats.add_failure();
  stats.clear();
  EXPECT_EQ(stats.snapshot().count, 0U);
  stats.add(7, 7);
  const Statistics seen = stats.snapshot();
  EXPECT_EQ(seen.count, 1U);
  EXPECT_EQ(seen.total, 7U);
  EXPECT_EQ(seen.longest, 7U);
  EXPECT_EQ(seen.failed, 0U);
  EXPECT_EQ(seen.sketch.count(), 1U);
}

TEST(OperationStats, MergedAreTheStatisticsOfAll) {
  OperationStats a;
  OperationStats b;
  OperationStats both;
  for (const std::uint64_t duration : random_durations(10'000)) {
    add(duration % 3 == 0 ? a : b, duration);
    add(both, duration);
  }
  Statistics merged = a.snapshot();
  merged.merge(b.snapshot());
  const Statistics seen = both.snapshot();
  EXPECT_EQ(merged.count, seen.count);
  EXPECT_EQ(merged.total, seen.total);
  EXPECT_TRUE(merged.squares == seen.squares);
  EXPECT_EQ(merged.quantile(0.95), seen.quantile(0.95));
}

// Every duration is 10, so any consistent snapshot has total = 10 · count.
TEST(OperationStats, SnapshotsOfAThreadAtWorkAreConsistent) {
  OperationStats stats;
  std::atomic<bool> done = false;
  std::jthread owner([&] {
    for (int i = 0; i < 300'000; ++i) stats.add(10, 10);
    done = true;
  });
  while (!done) {
    const Statistics seen = stats.snapshot();
    ASSERT_EQ(seen.total, 10 * seen.count);
    ASSERT_TRUE(seen.squares == 100 * Uint128{seen.count});
  }
}

}  // namespace fathom::detail::operation_stats_test
