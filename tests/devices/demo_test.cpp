#include "devices/demo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace fathom::devices::demo_test {

TEST(Demo, IsTheSameForTheSameSeedAndTime) {
  for (const double time : {0.0, 1.5, 77.0, 3600.25}) {
    const std::vector<GpuDevice> a = demo_devices(3, time);
    const std::vector<GpuDevice> b = demo_devices(3, time);
    ASSERT_EQ(a.size(), 2u);
    EXPECT_EQ(a[0].now.power_watts, b[0].now.power_watts);
    EXPECT_EQ(a[1].now.memory_used_bytes, b[1].now.memory_used_bytes);
    EXPECT_NE(a[0].now.memory_used_bytes, demo_devices(4, time)[0].now.memory_used_bytes);
  }
}

TEST(Demo, SaysThatItIsOne) {
  for (const GpuDevice& device : demo_devices(1, 10)) {
    EXPECT_NE(device.name.find("Demo"), std::string::npos);
    EXPECT_EQ(device.backend, "demo");
  }
}

TEST(Demo, StaysWithinWhatAGpuCanDo) {
  for (double time = 0; time < 2000; time += 0.7) {
    for (const GpuDevice& device : demo_devices(1, time)) {
      const GpuReading& now = device.now;
      EXPECT_GE(*now.utilization_percent, 0);
      EXPECT_LE(*now.utilization_percent, 100);
      EXPECT_LE(*now.power_watts, *device.power_limit_watts);
      EXPECT_GT(*now.temperature_celsius, 30);
      EXPECT_LT(*now.temperature_celsius, *device.shutdown_celsius);
      EXPECT_LE(*now.core_clock_hz, *device.max_core_clock_hz);
      // Each of the three is cut to whole bytes.
      EXPECT_NEAR(static_cast<double>(*now.memory_used_bytes + *now.memory_free_bytes +
                                      *now.memory_reserved_bytes),
                  static_cast<double>(*device.memory_total_bytes), 3);
      std::int64_t used_by_programs = 0;
      for (const GpuProcess& process : device.processes) used_by_programs += *process.memory_bytes;
      EXPECT_LE(used_by_programs, *now.memory_used_bytes);
    }
  }
}

TEST(Demo, HasHeatMemoryPressureAndCalmToShow) {
  double hottest = 0;
  double coolest = 100;
  double fullest = 0;
  bool throttles = false;
  for (double time = 0; time < 600; ++time) {
    for (const GpuDevice& device : demo_devices(1, time)) {
      hottest = std::max(hottest, *device.now.temperature_celsius);
      coolest = std::min(coolest, *device.now.temperature_celsius);
      fullest = std::max(fullest, static_cast<double>(*device.now.memory_used_bytes) /
                                      static_cast<double>(*device.memory_total_bytes));
      throttles = throttles || (*device.now.throttle &
                                static_cast<std::uint32_t>(ThrottleReason::software_thermal)) != 0;
    }
  }
  EXPECT_GT(hottest, 86);
  EXPECT_LT(coolest, 60);
  EXPECT_GT(fullest, 0.8);
  EXPECT_TRUE(throttles);
}

TEST(Demo, IsTheOnlyBackendWhereItIsChosen) {
  const auto chosen = backends({.is_demo = true});
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_STREQ(chosen[0]->name(), "demo");
  EXPECT_EQ(chosen[0]->look({}, true).devices.size(), 2u);
}

}  // namespace fathom::devices::demo_test
