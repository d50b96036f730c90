#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/session_record.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

using testing::HasSubstr;

std::vector<MonitorSuggestion> after(const GpuDevice& device, int samples = 60,
                                     std::vector<double> requests_ms = {}) {
  SessionRecord record(MonitorSession{});
  for (int i = 0; i < samples; ++i) {
    record.take(Snapshot{.time_ns = at(i), .trigger = "interval", .devices = {device}});
  }
  for (const double ms : requests_ms) record.take(InferenceStats::part_of(ms));
  return session_suggestions(record);
}

TEST(MonitorSuggestions, AHealthyBusyGpuGetsNone) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 92;
  EXPECT_TRUE(after(device).empty());
}

TEST(MonitorSuggestions, LowUtilization) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 23;
  const auto all = after(device);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "low_utilization");
  EXPECT_EQ(all[0].evidence, "23 % utilised on average, 23 % at most, over 60 samples");
}

TEST(MonitorSuggestions, AGpuThatNobodyUsesNeedsNoAdvice) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 0;
  EXPECT_TRUE(after(device).empty());
}

TEST(MonitorSuggestions, AFewSamplesAreNoEvidence) {
  GpuDevice device = hot(95);
  device.now.utilization_percent = 23;
  EXPECT_TRUE(after(device, 9).empty());
}

TEST(MonitorSuggestions, HighMemorySaysHowMuchTooMuch) {
  GpuDevice device = gpu();
  device.now.memory_used_bytes = 14'400'000'000;  // 90 % of 16 GB
  const auto all = after(device);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "high_memory");
  EXPECT_THAT(all[0].detail, HasSubstr("1.5 GB less would keep it below 80 %"));
  EXPECT_THAT(all[0].evidence, HasSubstr("(90 %)"));
}

TEST(MonitorSuggestions, HighTemperature) {
  const auto all = after(hot(83));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "high_temperature");
  EXPECT_THAT(all[0].evidence, HasSubstr("83 °C at most"));
  EXPECT_THAT(all[0].evidence, HasSubstr("100 % of 60 samples"));
}

TEST(MonitorSuggestions, Throttling) {
  GpuDevice device = gpu();
  device.now.throttle = static_cast<std::uint32_t>(ThrottleReason::hardware_thermal);
  const auto all = after(device);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "throttling");
  EXPECT_THAT(all[0].evidence, HasSubstr("too hot (hardware)"));
  EXPECT_THAT(all[0].evidence, HasSubstr("1410 MHz on average of 1500 MHz"));
}

TEST(MonitorSuggestions, APowerLimitThatHolds) {
  GpuDevice device = gpu();
  device.now.throttle = static_cast<std::uint32_t>(ThrottleReason::power_cap);
  const auto all = after(device);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].title, HasSubstr("power limit"));
  EXPECT_THAT(all[0].evidence, HasSubstr("of 300 W"));
}

TEST(MonitorSuggestions, SlowRequestsOnAnIdleGpuAreTheHostsDoing) {
  GpuDevice device = gpu();
  device.now.utilization_percent = 3;
  const auto all = after(device, 60, std::vector<double>(30, 250));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "slow_inference");
  EXPECT_THAT(all[0].detail, HasSubstr("it goes to the host"));
}

TEST(MonitorSuggestions, SlowRequestsOnABusyGpuAreItsDoing) {
  const auto all = after(gpu(), 60, std::vector<double>(30, 250));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].detail, HasSubstr("The GPUs were busy"));
}

TEST(MonitorSuggestions, ALongTailIsTold) {
  std::vector<double> requests(95, 10);
  requests.resize(100, 90);
  const auto all = after(gpu(), 60, requests);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].detail, HasSubstr("much longer than most"));
}

TEST(MonitorSuggestions, FastRequestsNeedNone) {
  EXPECT_TRUE(after(gpu(), 60, std::vector<double>(100, 20)).empty());
}

}  // namespace
}  // namespace fathom::monitor::test
