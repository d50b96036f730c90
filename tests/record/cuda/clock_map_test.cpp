#include "record/cuda/clock_map.h"

#include <gtest/gtest.h>

namespace fathom::record::cuda::clock_map_test {

TEST(ClockMap, WithoutPairsTheClocksAreTheSame) {
  EXPECT_EQ(ClockMap{}.ours(1'794'773'686'783'454'168), 1'794'773'686'783'454'168);
}

TEST(ClockMap, OnePairShiftsExactlyAtAnyDistance) {
  ClockMap map;
  map.add({1'794'773'686'783'454'168, 1'000});
  EXPECT_EQ(map.ours(1'794'773'686'783'454'168), 1'000);
  EXPECT_EQ(map.ours(1'794'773'686'783'454'161), 993);
  EXPECT_EQ(map.ours(1'794'773'686'783'454'168 + 7'000'000'000), 7'000'001'000);
}

TEST(ClockMap, IsExactAtEachPairAndStraightBetween) {
  ClockMap map;  // CUPTI's clock is being slewed: 1000 of its ns are 1001 of ours
  map.add({10'000, 0});
  map.add({11'000, 1'001});
  map.add({12'000, 2'002});
  EXPECT_EQ(map.ours(10'000), 0);
  EXPECT_EQ(map.ours(11'000), 1'001);
  EXPECT_EQ(map.ours(12'000), 2'002);
  EXPECT_EQ(map.ours(10'600), 601);  // 600.6, rounded
  EXPECT_EQ(map.ours(9'990), -10);
  EXPECT_EQ(map.ours(12'010), 2'012);
}

TEST(ClockMap, TimeNeverRunsBackwardsBetweenPairs) {
  ClockMap map;
  for (int i = 0; i < 500; ++i) map.add({i * 1'000'000LL + i % 7, i * 1'000'003LL + i % 5});
  std::int64_t last = map.ours(370'000'000);
  for (std::int64_t t = 370'000'000; t < 500'000'000; t += 77'777) {
    ASSERT_GE(map.ours(t), last);
    last = map.ours(t);
  }
}

TEST(ClockMap, StartsAnewWhenSomebodySetsTheClockBack) {
  ClockMap map;
  map.add({5'000'000, 100});
  map.add({1'000'000, 200});
  EXPECT_EQ(map.ours(1'000'050), 250);
}

}  // namespace fathom::record::cuda::clock_map_test
