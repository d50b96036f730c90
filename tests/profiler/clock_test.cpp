#include "profiler/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace fathom::detail::clock_test {

// Activities carry the system's time and scopes ticks: a call of a microsecond lies within its
// scope only where the two agree better than that. The allowance is for a machine that is busy.
constexpr std::int64_t kAllowance = 20'000;

TEST(SteeredClock, AgreesWithTheSystemsClockFromTheFirstCalibrationOn) {
  SteeredClock clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (int i = 0; i < 5; ++i) {
    clock.calibrate();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const ClockPoint now = read_clocks();
    EXPECT_NEAR(static_cast<double>(clock.ns(now.ticks)), static_cast<double>(now.ns), kAllowance);
  }
}

TEST(SteeredClock, NeverGoesBack) {
  SteeredClock clock;
  clock.calibrate();
  std::int64_t last = 0;
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0) clock.calibrate();
    const std::int64_t now = clock.ns(ticks());
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace fathom::detail::clock_test
