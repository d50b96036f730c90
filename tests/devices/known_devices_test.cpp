#include "devices/known_devices.h"

#include <gtest/gtest.h>

namespace fathom::devices::known_devices_test {

using std::chrono::seconds;

const KnownDevices::Time kStart{};

GpuDevice device(const std::string& uuid, const std::string& pci = "",
                 const std::string& type = "gpu") {
  GpuDevice made{.uuid = uuid, .pci_address = pci, .name = "GPU " + uuid, .type = type};
  made.now.power_watts = 100;
  made.processes.push_back({.pid = 7, .name = "app"});
  return made;
}

std::vector<std::string> uuids(const std::vector<GpuDevice>& devices) {
  std::vector<std::string> all;
  for (const GpuDevice& each : devices) all.push_back(each.uuid);
  return all;
}

TEST(KnownDevices, VanishedIsLostAndReturnedIsTheSame) {
  KnownDevices known(1);
  known.take(0, {device("a"), device("b")}, true, kStart);
  known.take(0, {device("b")}, true, kStart + seconds(10));
  std::vector<GpuDevice> devices = known.list(kStart + seconds(12));
  ASSERT_EQ(uuids(devices), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(devices[0].state, DeviceState::lost);
  EXPECT_EQ(devices[0].name, "GPU a");
  EXPECT_FALSE(devices[0].now.power_watts);  // what it was is not what it is
  EXPECT_TRUE(devices[0].processes.empty());
  EXPECT_EQ(devices[0].age_seconds, 12);
  EXPECT_EQ(devices[1].state, DeviceState::ok);
  EXPECT_EQ(devices[1].age_seconds, 2);

  known.take(0, {device("b"), device("a"), device("c")}, true, kStart + seconds(20));
  devices = known.list(kStart + seconds(20));
  EXPECT_EQ(uuids(devices), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(devices[0].state, DeviceState::ok);
  EXPECT_EQ(devices[0].now.power_watts, 100);
  EXPECT_EQ(devices[2].index, 2u);
}

TEST(KnownDevices, SaidToBeLostKeepsItsName) {
  KnownDevices known(1);
  known.take(0, {device("a")}, true, kStart);
  GpuDevice lost{.uuid = "a", .name = "?"};
  lost.state = DeviceState::lost;
  known.take(0, {lost}, true, kStart + seconds(5));
  const GpuDevice listed = known.list(kStart + seconds(6))[0];
  EXPECT_EQ(listed.state, DeviceState::lost);
  EXPECT_EQ(listed.name, "GPU a");
  EXPECT_EQ(listed.age_seconds, 6);
}

// Its driver does not tell its UUID then: that would wake it.
TEST(KnownDevices, AsleepItIsTheOneItWas) {
  KnownDevices known(1);
  known.take(0, {device("GPU-x", "0000:03:00.0"), device("GPU-y", "0000:04:00.0")}, true, kStart);
  GpuDevice asleep{.uuid = "pci-0000:03:00.0", .pci_address = "0000:03:00.0", .name = "NVIDIA GPU"};
  asleep.state = DeviceState::suspended;
  known.take(0, {asleep, device("GPU-y", "0000:04:00.0")}, true, kStart + seconds(9));
  const std::vector<GpuDevice> devices = known.list(kStart + seconds(10));
  ASSERT_EQ(uuids(devices), (std::vector<std::string>{"GPU-x", "GPU-y"}));
  EXPECT_EQ(devices[0].state, DeviceState::suspended);
  EXPECT_EQ(devices[0].name, "GPU GPU-x");
  EXPECT_FALSE(devices[0].now.power_watts);
  EXPECT_TRUE(devices[0].processes.empty());
  EXPECT_EQ(devices[0].age_seconds, 1);
}

TEST(KnownDevices, FailedBackendLosesItsOwnAlone) {
  KnownDevices known(2);
  known.take(0, {device("a")}, true, kStart);
  known.take(1, {device("b")}, true, kStart);
  known.lose(0);
  EXPECT_EQ(known.list(kStart)[0].state, DeviceState::lost);
  EXPECT_EQ(known.list(kStart)[1].state, DeviceState::ok);
}

TEST(KnownDevices, ListedOnceThoughTwoBackendsTellOfIt) {
  KnownDevices known(2);
  known.take(1, {device("opencl-1", "0000:03:00.0"), device("opencl-2", "0000:04:00.0")}, true,
             kStart);
  known.take(0, {device("GPU-x", "0000:03:00.0")}, true, kStart);
  const std::vector<GpuDevice> devices = known.list(kStart);
  EXPECT_EQ(uuids(devices), (std::vector<std::string>{"GPU-x", "opencl-2"}));
  EXPECT_EQ(devices[1].index, 1u);
}

TEST(KnownDevices, PartsOfAGpuAreDevicesUntilTheyAreTakenApart) {
  KnownDevices known(1);
  known.take(0,
             {device("GPU-x", "0000:03:00.0"), device("MIG-1", "0000:03:00.0", "mig"),
              device("MIG-2", "0000:03:00.0", "mig")},
             true, kStart);
  EXPECT_EQ(known.list(kStart).size(), 3u);
  known.take(0, {device("GPU-x", "0000:03:00.0"), device("MIG-2", "0000:03:00.0", "mig")}, true,
             kStart);
  EXPECT_EQ(uuids(known.list(kStart)), (std::vector<std::string>{"GPU-x", "MIG-2"}));
}

TEST(KnownDevices, ProcessesHoldUntilTheNextLookForThem) {
  KnownDevices known(1);
  known.take(0, {device("a")}, true, kStart);
  GpuDevice without = device("a");
  without.processes.clear();
  known.take(0, {without}, false, kStart);
  EXPECT_EQ(known.list(kStart)[0].processes.size(), 1u);
  known.take(0, {without}, true, kStart);
  EXPECT_TRUE(known.list(kStart)[0].processes.empty());
}

}  // namespace fathom::devices::known_devices_test
