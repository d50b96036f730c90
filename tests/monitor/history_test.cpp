#include "monitor/history.h"

#include <gtest/gtest.h>

#include "monitor/reading_fields.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

Snapshot one(double seconds, std::vector<GpuDevice> devices) {
  return {.time_ns = at(seconds), .trigger = "interval", .devices = std::move(devices)};
}

TEST(History, GivesBackWhatItWasGiven) {
  History history(10, History::WhenFull::drop_oldest);
  GpuDevice device = gpu();
  device.state = DeviceState::no_permission;
  device.now.ecc_uncorrected = 3;
  device.now.temperature_celsius = -12.34;
  device.now.energy_joules = 123'456'789.125;
  history.add(one(1, {device}));
  const Snapshot back = history.at(0);
  EXPECT_EQ(back.time_ns, at(1));
  EXPECT_EQ(back.trigger, "interval");
  ASSERT_EQ(back.devices.size(), 1u);
  EXPECT_EQ(back.devices[0].name, "Test GPU");
  EXPECT_EQ(back.devices[0].state, DeviceState::no_permission);
  EXPECT_EQ(back.devices[0].age_seconds, 0.25);
  for (const ReadingField& field : reading_fields()) {
    EXPECT_EQ(field.get(back.devices[0].now), field.get(device.now)) << field.name;
  }
  EXPECT_FALSE(back.devices[0].now.fan_percent) << "what is unknown stays unknown";
}

TEST(History, KeepsTheNewest) {
  History history(3, History::WhenFull::drop_oldest);
  for (int i = 0; i < 10; ++i) history.add(one(i, {gpu()}));
  const auto kept = history.last(0);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].time_ns, at(7));
  EXPECT_EQ(kept[2].time_ns, at(9));
  EXPECT_EQ(history.last(1)[0].time_ns, at(9));
}

TEST(History, ThinsOutEvenly) {
  History history(8, History::WhenFull::thin_out);
  for (int i = 0; i < 100; ++i) history.add(one(i, {gpu()}));
  const auto kept = history.last(0);
  ASSERT_GE(kept.size(), 4u);
  ASSERT_LE(kept.size(), 8u);
  EXPECT_EQ(kept[0].time_ns, at(0)) << "the beginning stays";
  for (std::size_t i = 1; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].time_ns - kept[i - 1].time_ns, kept[1].time_ns - kept[0].time_ns);
  }
}

TEST(History, EightDevicesTakeLessThanAKilobyte) {
  History history(100, History::WhenFull::drop_oldest);
  std::vector<GpuDevice> devices;
  for (unsigned i = 0; i < 8; ++i) {
    GpuDevice device = gpu("gpu-" + std::to_string(i), i);
    for (const ReadingField& field : reading_fields()) field.set(device.now, 77);
    device.now.memory_used_bytes = 71'234'567'890 + i;
    device.now.memory_free_bytes = 8'234'567'890 + i;
    device.now.energy_joules = 1e9 + i;
    device.processes.resize(20);
    devices.push_back(device);
  }
  for (int i = 0; i < 100; ++i) history.add(one(i, devices));
  EXPECT_LE(history.bytes() / history.size(), 1024u);
}

TEST(History, ADeviceThatChangedItsLimitIsDescribedAnew) {
  History history(10, History::WhenFull::drop_oldest);
  GpuDevice device = gpu();
  history.add(one(0, {device}));
  device.power_limit_watts = 200;
  history.add(one(1, {device}));
  EXPECT_EQ(history.at(0).devices[0].power_limit_watts, 300);
  EXPECT_EQ(history.at(1).devices[0].power_limit_watts, 200);
}

}  // namespace
}  // namespace fathom::monitor::test
