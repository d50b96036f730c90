#include "monitor/alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenes.h"

namespace fathom::monitor::test {
namespace {

using testing::HasSubstr;

class Alerts : public testing::Test {
 protected:
  AlertChanges take(double seconds, const GpuDevice& device, std::vector<DeviceError> errors = {},
                    const std::vector<Leak>& leaks = {}) {
    return watch_.take(at(seconds), {device}, errors, leaks);
  }

  std::uint64_t next_id_ = 1;
  AlertWatch watch_{MonitorConfig{}, next_id_};
};

// A ramp of one degree per second from 70 °C: 80 are reached after 10 s, 90 after 20 s.
TEST_F(Alerts, AreRaisedAndClearedExactlyOnAScriptedRamp) {
  std::vector<std::pair<double, Alert>> seen;
  for (int second = 0; second <= 60; ++second) {
    const double celsius = second <= 25 ? 70 + second : 95 - (second - 25);
    for (const Alert& alert : take(second, hot(celsius))) seen.emplace_back(second, alert);
  }
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[0].first, 10);  // 80 °C
  EXPECT_EQ(seen[0].second.severity, AlertSeverity::warning);
  EXPECT_EQ(seen[0].second.raised_ns, at(10));
  EXPECT_EQ(seen[0].second.value, 80);
  EXPECT_EQ(seen[0].second.limit, 80);
  EXPECT_EQ(seen[1].first, 20);  // 90 °C: the warning ends ...
  EXPECT_EQ(seen[1].second.cleared_ns, at(20));
  EXPECT_EQ(seen[2].first, 20);  // ... where the critical one begins
  EXPECT_EQ(seen[2].second.severity, AlertSeverity::critical);
  EXPECT_EQ(seen[3].first, 36);  // 84 °C: below 90 by more than the margin
  EXPECT_EQ(seen[3].second.cleared_ns, at(36));
  EXPECT_EQ(seen[4].second.severity, AlertSeverity::warning);
  EXPECT_EQ(seen[5].first, 46);  // 74 °C: below 80 by more than the margin
  EXPECT_EQ(seen[5].second.cleared_ns, at(46));
  EXPECT_TRUE(watch_.active().empty());
}

TEST_F(Alerts, AValueThatSwingsAroundItsLimitRaisesOne) {
  int raised = 0;
  for (int second = 0; second < 600; ++second) {
    for (const Alert& alert : take(second, hot(second % 2 == 0 ? 81 : 77))) {
      raised += alert.cleared_ns ? 0 : 1;
    }
  }
  EXPECT_EQ(raised, 1);
}

TEST_F(Alerts, AfterOneIsClearedTheNextWaitsForTheCoolDown) {
  take(0, hot(82));
  EXPECT_EQ(take(10, hot(60)).size(), 1u);  // cleared
  EXPECT_TRUE(take(20, hot(82)).empty());
  EXPECT_TRUE(take(69, hot(82)).empty());
  EXPECT_EQ(take(70, hot(82)).size(), 1u);
}

TEST_F(Alerts, TheCoolDownDoesNotHoldBackAWorseOne) {
  take(0, hot(82));
  take(10, hot(60));
  const AlertChanges changes = take(11, hot(95));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].severity, AlertSeverity::critical);
}

TEST_F(Alerts, AnUnknownTemperatureNeitherRaisesNorClears) {
  take(0, hot(85));
  GpuDevice silent = gpu();
  silent.now.temperature_celsius.reset();
  EXPECT_TRUE(take(1, silent).empty());
  EXPECT_EQ(watch_.active().size(), 1u);
}

TEST_F(Alerts, HeatNamesAFanThatStandsStill) {
  GpuDevice device = hot(85);
  device.now.fan_percent = 4;
  EXPECT_THAT(take(0, device).at(0).cause, HasSubstr("fan runs at 4 %"));
}

TEST_F(Alerts, MemoryNamesItsLargestProgram) {
  GpuDevice device = gpu();
  device.now.memory_used_bytes = 15'500'000'000;
  device.processes = {{.pid = 7, .name = "small", .memory_bytes = 1'000'000'000},
                      {.pid = 8, .name = "large", .memory_bytes = 14'000'000'000}};
  const Alert alert = take(0, device).at(0);
  EXPECT_EQ(alert.kind, AlertKind::memory);
  EXPECT_EQ(alert.severity, AlertSeverity::critical);
  EXPECT_NEAR(*alert.value, 96.875, 1e-9);
  EXPECT_THAT(alert.cause, HasSubstr("large (pid 8)"));
}

TEST_F(Alerts, FullUtilizationMustLast) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 97;
  for (int second = 0; second < 60; ++second) EXPECT_TRUE(take(second, device).empty());
  const AlertChanges changes = take(60, device);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, AlertKind::utilization);
  EXPECT_EQ(changes[0].raised_ns, at(60));
}

TEST_F(Alerts, ADipEndsTheWaitForFullUtilization) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 97;
  for (int second = 0; second < 50; ++second) take(second, device);
  take(50, gpu());
  for (int second = 51; second < 111; ++second) EXPECT_TRUE(take(second, device).empty());
  EXPECT_EQ(take(111, device).size(), 1u);
}

TEST_F(Alerts, ALostDeviceIsCriticalUntilItIsBack) {
  take(0, hot(85));
  GpuDevice lost = gpu();
  lost.state = DeviceState::lost;
  lost.now = {};
  const AlertChanges changes = take(1, lost);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind, AlertKind::thermal) << "heat of a device that is gone is over";
  EXPECT_TRUE(changes[0].cleared_ns);
  EXPECT_EQ(changes[1].kind, AlertKind::device_lost);
  EXPECT_EQ(changes[1].severity, AlertSeverity::critical);
  EXPECT_EQ(take(2, gpu()).at(0).cleared_ns, at(2));
  EXPECT_EQ(take(3, lost).size(), 1u) << "at once, without a cool-down";
}

TEST_F(Alerts, ADeviceThatIsNotListedAnyMoreHasNone) {
  take(0, hot(85));
  const AlertChanges changes = watch_.take(at(1), {}, {}, {});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].cleared_ns);
}

TEST_F(Alerts, AnXidSaysWhatItMeansAndGoesAfterAMinute) {
  const Alert alert = take(0, gpu(), {{"gpu-0", at(0), 79}}).at(0);
  EXPECT_EQ(alert.kind, AlertKind::xid);
  EXPECT_EQ(alert.value, 79);
  EXPECT_THAT(alert.cause, HasSubstr("fell off the bus"));
  EXPECT_TRUE(take(30, gpu(), {{"gpu-0", at(30), 79}}).empty()) << "the same again";
  EXPECT_TRUE(take(89, gpu()).empty());
  EXPECT_TRUE(take(90, gpu()).empty()) << "the first calm look begins the minute";
  EXPECT_EQ(take(149, gpu()).size(), 1u);
}

TEST_F(Alerts, XidsOfOthersAreNotOurs) {
  EXPECT_TRUE(take(0, gpu(), {{"gpu-1", at(0), 79}}).empty());
}

TEST_F(Alerts, UncorrectedMemoryErrorsAreToldWhenTheyHappen) {
  GpuDevice device = gpu();
  device.now.ecc_uncorrected = 5;
  EXPECT_TRUE(take(0, device).empty()) << "what was before is not news";
  device.now.ecc_uncorrected = 6;
  const AlertChanges changes = take(1, device);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, AlertKind::ecc);
  EXPECT_EQ(changes[0].severity, AlertSeverity::critical);
  EXPECT_EQ(changes[0].value, 1);
}

TEST_F(Alerts, ManyCorrectedMemoryErrorsWithinAnHourAreTold) {
  GpuDevice device = gpu();
  device.now.ecc_corrected = 100;
  take(0, device);
  device.now.ecc_corrected = 110;
  EXPECT_TRUE(take(60, device).empty());
  device.now.ecc_corrected = 111;
  EXPECT_EQ(take(120, device).at(0).severity, AlertSeverity::warning);
}

TEST_F(Alerts, AFewCorrectedMemoryErrorsPerHourAreNormal) {
  GpuDevice device = gpu();
  for (int minute = 0; minute < 24 * 60; ++minute) {
    device.now.ecc_corrected = minute / 10;
    EXPECT_TRUE(take(60.0 * minute, device).empty());
  }
}

TEST_F(Alerts, SlowingDownOfHardwareIsCriticalAndSaysWhy) {
  GpuDevice device = gpu();
  device.now.throttle = static_cast<std::uint32_t>(ThrottleReason::power_brake);
  const Alert alert = take(0, device).at(0);
  EXPECT_EQ(alert.kind, AlertKind::throttling);
  EXPECT_EQ(alert.severity, AlertSeverity::critical);
  EXPECT_THAT(alert.message, HasSubstr("external power brake"));
  EXPECT_THAT(alert.message, HasSubstr("1410 of 1500 MHz"));
  EXPECT_TRUE(take(1, gpu()).empty());
  EXPECT_EQ(take(11, gpu()).size(), 1u) << "over after ten calm seconds";
}

TEST_F(Alerts, APowerCapIsNormal) {
  GpuDevice device = gpu();
  device.now.throttle = static_cast<std::uint32_t>(ThrottleReason::power_cap);
  EXPECT_TRUE(take(0, device).empty());
}

TEST_F(Alerts, ALeakNamesItsProgramAndItsSlope) {
  Leak leak;
  leak.uuid = "gpu-0";
  leak.process = {.pid = 42, .name = "python3"};
  leak.bytes_per_minute = 10 * kMb;
  leak.least_bytes_per_minute = 9 * kMb;
  leak.most_bytes_per_minute = 11 * kMb;
  const Alert alert = take(0, gpu(), {}, {leak}).at(0);
  EXPECT_EQ(alert.kind, AlertKind::leak);
  EXPECT_THAT(alert.message, HasSubstr("python3 (pid 42) grows by 10 MB per minute"));
  EXPECT_THAT(alert.cause, HasSubstr("9 MB–11 MB per minute"));
}

TEST_F(Alerts, WhatIsSwitchedOffIsNotJudged) {
  MonitorConfig config;
  config.enable_thermal_monitoring = false;
  AlertWatch watch(config, next_id_);
  EXPECT_TRUE(watch.take(at(0), {hot(99)}, {}, {}).empty());
}

TEST_F(Alerts, AClockThatIsSetBackDoesNoHarm) {
  take(100, hot(85));
  EXPECT_EQ(take(10, hot(60)).size(), 1u);
  EXPECT_TRUE(take(5, hot(85)).empty());
}

}  // namespace
}  // namespace fathom::monitor::test
