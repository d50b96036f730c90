#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "fathom/monitor.h"
#include "monitor/leak_watch.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

using Level = std::function<double(double seconds, std::mt19937& random)>;

double noise(std::mt19937& random, double deviation_mb) {
  return std::normal_distribution<>(0, deviation_mb * kMb)(random);
}

struct Found {
  int alarms = 0;
  double first_seconds = -1;
};

// Looks once per second, or as told.
Found watch(double seconds, unsigned seed, const Level& level, double every = 1) {
  std::mt19937 random(seed);
  LeakSeries series;
  Found found;
  bool was_leaking = false;
  for (double t = 0; t < seconds; t += every) {
    series.add(at(t + 3.7), static_cast<std::int64_t>(std::max(0.0, level(t, random))));
    const bool is_leaking = series.leak().has_value();
    if (is_leaking && !was_leaking && found.alarms++ == 0) found.first_seconds = t;
    was_leaking = is_leaking;
  }
  return found;
}

constexpr double kDay = 86'400;
constexpr double kBase = 4e9;

TEST(LeakWatch, FindsTenMegabytesPerMinuteWithinFiveMinutes) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const Found found = watch(300, seed, [](double s, std::mt19937& random) {
      const double blocks = std::floor(10 * s / 60 / 2);  // of 2 MB, as a driver gives them
      return kBase + blocks * 2 * kMb + noise(random, 2);
    });
    EXPECT_EQ(found.alarms, 1) << "seed " << seed;
    EXPECT_LE(found.first_seconds, 300);
  }
}

TEST(LeakWatch, SaysHowFastItGrows) {
  LeakSeries series;
  std::mt19937 random(1);
  for (int t = 0; t < 300; ++t) {
    series.add(at(t), static_cast<std::int64_t>(kBase + 30 * kMb * t / 60 + noise(random, 1)));
  }
  const auto leak = series.leak();
  ASSERT_TRUE(leak);
  EXPECT_NEAR(leak->bytes_per_minute / kMb, 30, 1);
  EXPECT_LE(leak->least_bytes_per_minute, leak->bytes_per_minute);
  EXPECT_GE(leak->most_bytes_per_minute, leak->bytes_per_minute);
  EXPECT_GT(leak->least_bytes_per_minute / kMb, 28);
}

// At most one alarm per simulated day, of what programs do that do not leak.
struct Innocent {
  const char* name;
  Level level;
};

class Innocents : public testing::TestWithParam<Innocent> {};

TEST_P(Innocents, RaiseAtMostOneAlarmPerDay) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    EXPECT_LE(watch(kDay, seed, GetParam().level).alarms, 1) << "seed " << seed;
  }
}

Level sawtooth(double period) {
  return [period](double t, std::mt19937& random) {
    return kBase + 500 * kMb * std::fmod(t, period) / period + noise(random, 1);
  };
}

Level correlated(double share) {
  return [share, value = 0.0](double, std::mt19937& random) mutable {
    value = share * value + noise(random, 50 * std::sqrt(1 - share * share));
    return kBase + value;
  };
}

INSTANTIATE_TEST_SUITE_P(
    LeakWatch, Innocents,
    testing::Values(
        Innocent{"noise", [](double, std::mt19937& random) { return kBase + noise(random, 50); }},
        Innocent{"noise_of_10_seconds", correlated(0.9)},
        Innocent{"noise_of_100_seconds", correlated(0.99)}, Innocent{"sawtooth_7_s", sawtooth(7)},
        Innocent{"sawtooth_61_s", sawtooth(61)}, Innocent{"sawtooth_5_min", sawtooth(300)},
        Innocent{"sawtooth_30_min", sawtooth(1800)},
        Innocent{
            "wave_of_an_hour",
            [](double s, std::mt19937&) { return kBase + 500 * kMb * std::sin(s / 3600 * 6.283); }},
        Innocent{"steps_and_plateaus",
                 [value = 0.0](double, std::mt19937& random) mutable {
                   std::uniform_real_distribution<> chance(0, 1);
                   if (chance(random) < 1.0 / 1200) value += 100 * kMb * chance(random);
                   return kBase + value;
                 }},
        Innocent{"loading_for_two_minutes",
                 [](double s, std::mt19937& random) {
                   return std::min(s, 120.0) / 120 * kBase + noise(random, 2);
                 }}),
    [](const auto& innocent) { return std::string(innocent.param.name); });

TEST(LeakWatch, AGapBeginsAnew) {
  LeakSeries series;
  for (int t = 0; t < 250; ++t) series.add(at(t), static_cast<std::int64_t>(t * kMb));
  for (int t = 400; t < 600; ++t) series.add(at(t), static_cast<std::int64_t>(t * kMb));
  EXPECT_FALSE(series.leak());
}

// As often as the monitor looks for programs without other settings.
TEST(LeakWatch, LooksEveryFiveSecondsAreEnough) {
  const double every = MonitorConfig().metrics_update_interval_seconds;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const Found found = watch(
        300, seed,
        [](double s, std::mt19937& random) {
          const double blocks = std::floor(10 * s / 60 / 2);
          return kBase + blocks * 2 * kMb + noise(random, 2);
        },
        every);
    EXPECT_EQ(found.alarms, 1) << "seed " << seed;
    EXPECT_LE(found.first_seconds, 300);
  }
}

TEST(LeakWatch, APidThatIsGivenAgainIsAnotherProgram) {
  LeakWatch watch;
  for (int t = 0; t < 400; ++t) {
    GpuDevice device = gpu();
    device.processes = {{.pid = 1,
                         .start_ticks = static_cast<std::uint64_t>(t / 100),
                         .memory_bytes = static_cast<std::int64_t>(t * kMb)}};
    watch.take(at(t), {device});
  }
  EXPECT_TRUE(watch.leaks().empty());
}

TEST(LeakWatch, NamesDeviceAndProgram) {
  LeakWatch watch;
  for (int t = 0; t < 300; ++t) {
    GpuDevice device = gpu("gpu-7");
    device.processes = {
        {.pid = 1, .name = "still", .memory_bytes = 1'000'000'000},
        {.pid = 2, .name = "leaky", .memory_bytes = static_cast<std::int64_t>(t * kMb)}};
    watch.take(at(t), {device});
  }
  const auto leaks = watch.leaks();
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].uuid, "gpu-7");
  EXPECT_EQ(leaks[0].process.name, "leaky");
}

}  // namespace
}  // namespace fathom::monitor::test
