#include "base/partition.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fathom::base::partition_test {

bool holds(const std::vector<Interval>& intervals, std::int64_t instant) {
  for (const Interval& each : intervals) {
    if (each.begin <= instant && instant < each.end) return true;
  }
  return false;
}

// The definition, nanosecond by nanosecond.
TimeParts count_instants(Interval wall, const std::vector<Interval>& kernels,
                         const std::vector<Interval>& copies, const std::vector<Interval>& calls) {
  TimeParts parts;
  for (std::int64_t instant = wall.begin; instant < wall.end; ++instant) {
    if (holds(kernels, instant)) {
      ++parts.gpu_ns;
    } else if (holds(copies, instant)) {
      ++parts.transfer_ns;
    } else if (holds(calls, instant)) {
      ++parts.overhead_ns;
    } else {
      ++parts.cpu_ns;
    }
  }
  return parts;
}

std::vector<Interval> random_activity(std::mt19937& random) {
  std::vector<Interval> intervals(std::uniform_int_distribution<std::size_t>(0, 12)(random));
  for (Interval& each : intervals) {
    each.begin = std::uniform_int_distribution<std::int64_t>(-30, 230)(random);
    each.end = each.begin + std::uniform_int_distribution<std::int64_t>(0, 60)(random);
  }
  return intervals;
}

TEST(Partition, AgreesWithCountingEveryNanosecond) {
  std::mt19937 random(20261115);
  for (int round = 0; round < 5000; ++round) {
    Interval wall;
    wall.begin = std::uniform_int_distribution<std::int64_t>(0, 100)(random);
    wall.end = wall.begin + std::uniform_int_distribution<std::int64_t>(0, 100)(random);
    const auto kernels = random_activity(random);
    const auto copies = random_activity(random);
    const auto calls = random_activity(random);
    const TimeParts parts =
        partition_time(wall, normalize(kernels), normalize(copies), normalize(calls));
    ASSERT_EQ(parts, count_instants(wall, kernels, copies, calls));
    ASSERT_EQ(parts.gpu_ns + parts.transfer_ns + parts.overhead_ns + parts.cpu_ns, wall.length());
  }
}

TEST(TimeSplit, AnswersForAnyWindowAsForOne) {
  std::mt19937 random(20261118);
  for (int round = 0; round < 500; ++round) {
    const auto kernels = random_activity(random);
    const auto copies = random_activity(random);
    const auto calls = random_activity(random);
    const TimeSplit split(normalize(kernels), normalize(copies), normalize(calls));
    for (int i = 0; i < 5; ++i) {
      const std::int64_t begin = std::uniform_int_distribution<std::int64_t>(-50, 250)(random);
      const Interval window{begin,
                            begin + std::uniform_int_distribution<std::int64_t>(0, 150)(random)};
      ASSERT_EQ(split.within(window), count_instants(window, kernels, copies, calls));
    }
  }
  EXPECT_EQ(TimeSplit({}, {}, {}).within({7, 3}), TimeParts{});
}

}  // namespace fathom::base::partition_test
