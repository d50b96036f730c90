// The backend for Intel's cards, on folders like those of their two drivers.
#include <gtest/gtest.h>

#include "devices/cards.h"
#include "devices/pci_gpus.h"
#include "devices/rate.h"

namespace fathom::devices::intel_test {

constexpr double kMhz = 1e6;

TEST(Intel, IsNotThereWithoutACard) {
  const KernelTree tree;
  EXPECT_EQ(intel_backend(tree.roots()), nullptr);
}

TEST(Intel, TellsWhatI915Tells) {
  const KernelTree tree;
  add_i915(tree);
  tree.write("share/hwdata/pci.ids", "8086  Intel Corporation\n\t56a0  DG2 [Arc A770]\n");
  const auto backend = intel_backend(tree.roots());
  GpuDevice gpu = backend->look({}, true).devices.at(0);
  EXPECT_EQ(gpu.uuid, "pci-0000:00:02.0");
  EXPECT_EQ(gpu.name, "Intel Arc A770");
  EXPECT_EQ(gpu.backend, "intel");
  EXPECT_EQ(gpu.now.core_clock_hz, 2050 * kMhz);
  EXPECT_EQ(gpu.max_core_clock_hz, 2400 * kMhz);
  EXPECT_EQ(gpu.power_limit_watts, 190);  // power1_max of 0 is off
  EXPECT_EQ(gpu.now.fan_rpm, 900);
  EXPECT_EQ(gpu.now.energy_joules, 5);
  EXPECT_EQ(gpu.now.throttle, static_cast<std::uint32_t>(ThrottleReason::power_cap));
  EXPECT_FALSE(gpu.memory_total_bytes);
  EXPECT_FALSE(gpu.now.memory_used_bytes);  // not 0
  EXPECT_FALSE(gpu.now.temperature_celsius);
  // These take two looks.
  EXPECT_FALSE(gpu.now.utilization_percent);
  EXPECT_FALSE(gpu.now.power_watts);
  gpu = backend->look({}, false).devices.at(0);
  EXPECT_EQ(gpu.now.utilization_percent, 100);  // it did not sleep at all
  EXPECT_EQ(gpu.now.power_watts, 0);
  tree.set("0000:00:02.0", "drm/card0/gt/gt0/rc6_residency_ms", "100000000");
  tree.set("0000:00:02.0", "hwmon/hwmon2/energy1_input", "6000000");
  gpu = backend->look({}, false).devices.at(0);
  EXPECT_EQ(gpu.now.utilization_percent, 0);
  EXPECT_GT(gpu.now.power_watts, 0);
}

TEST(Intel, TellsWhatAnOldI915Tells) {
  const KernelTree tree;
  tree.gpu("0000:00:02.0", "i915",
           {{"vendor", "0x8086"},
            {"device", "0x3e92"},
            {"drm/card0/gt_act_freq_mhz", "0"},
            {"drm/card0/gt_RP0_freq_mhz", "1150"},
            {"drm/card0/power/rc6_residency_ms", "5"}});
  const auto backend = intel_backend(tree.roots());
  backend->look({}, true);
  const GpuDevice gpu = backend->look({}, false).devices.at(0);
  EXPECT_EQ(gpu.name, "Intel GPU 3e92");
  EXPECT_EQ(gpu.now.core_clock_hz, 0);  // powered down, which is known
  EXPECT_EQ(gpu.max_core_clock_hz, 1150 * kMhz);
  EXPECT_EQ(gpu.now.utilization_percent, 100);
  EXPECT_FALSE(gpu.now.throttle);
  EXPECT_FALSE(gpu.now.power_watts);
}

TEST(Intel, TellsWhatXeTells) {
  const KernelTree tree;
  add_xe(tree);
  const auto backend = intel_backend(tree.roots());
  GpuDevice gpu = backend->look({}, true).devices.at(0);
  EXPECT_EQ(gpu.now.core_clock_hz, 2850 * kMhz);  // not that of the part for video
  EXPECT_EQ(gpu.power_limit_watts, 190);
  EXPECT_EQ(gpu.now.temperature_celsius, 55);
  EXPECT_EQ(gpu.now.memory_temperature_celsius, 60);
  EXPECT_EQ(gpu.now.throttle, 0u);
  tree.set("0000:05:00.0", "tile0/gt0/gtidle/idle_residency_ms", "100000000");
  gpu = backend->look({}, false).devices.at(0);
  EXPECT_EQ(gpu.now.utilization_percent, 0);
}

TEST(Intel, AReasonThatWeDoNotKnowIsNotNone) {
  const KernelTree tree;
  add_xe(tree);
  tree.set("0000:05:00.0", "tile0/gt0/freq0/throttle/status", "1");
  EXPECT_FALSE(intel_backend(tree.roots())->look({}, true).devices.at(0).now.throttle);
  tree.set("0000:05:00.0", "tile0/gt0/freq0/throttle/reason_thermal", "1");
  EXPECT_EQ(intel_backend(tree.roots())->look({}, true).devices.at(0).now.throttle,
            static_cast<std::uint32_t>(ThrottleReason::hardware_thermal));
}

TEST(Intel, ACardWithoutADriverIsNotListed) {
  const KernelTree tree;
  add_i915(tree);
  tree.bind("0000:00:02.0", "vfio-pci");  // given to a virtual machine
  EXPECT_TRUE(intel_backend(tree.roots())->look({}, true).devices.empty());
}

TEST(Intel, ASleepingCardIsNotReadNorTheDescriptorsOfItsPrograms) {
  const KernelTree tree;
  add_i915(tree);
  add_xe(tree);
  tree.set("0000:05:00.0", "power/runtime_status", "suspended");
  tree.program(10, "a",
               {{3, {"dri/renderD130", "drm-pdev: 0000:05:00.0\ndrm-client-id: 1\n"}},
                {4, {"dri/renderD128", "drm-pdev: 0000:00:02.0\ndrm-client-id: 1\n"}}});
  const Look look = intel_backend(tree.roots())->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[0].processes.size(), 1u);
  EXPECT_EQ(look.devices[1].state, DeviceState::suspended);
  EXPECT_TRUE(look.devices[1].processes.empty());
}

TEST(Rate, IsTheGrowthOfACounterPerSecond) {
  using std::chrono::milliseconds;
  const Rate::Time begin{std::chrono::hours(1)};
  Rate rate;
  EXPECT_FALSE(rate.of(100, begin));
  EXPECT_EQ(rate.of(150, begin + milliseconds(500)), 100);
  EXPECT_EQ(rate.of(150, begin + milliseconds(600)), 0);
  EXPECT_FALSE(rate.of(20, begin + milliseconds(1600)));  // it began anew
  EXPECT_EQ(rate.of(30, begin + milliseconds(2600)), 10);
  EXPECT_FALSE(rate.of({}, begin + milliseconds(3600)));
  EXPECT_FALSE(rate.of(50, begin + milliseconds(4600)));
  EXPECT_FALSE(rate.of(60, begin + milliseconds(4600)));  // no time went by
}

TEST(PciLink, IsWhatItsLanesCarry) {
  const KernelTree tree;
  const std::string address = "0000:05:00.0";
  EXPECT_FALSE(pci_link(tree.roots(), address));
  tree.set(address, "current_link_speed", "16.0 GT/s PCIe");
  tree.set(address, "current_link_width", "8");
  tree.set(address, "max_link_width", "16");
  std::optional<PciLink> link = pci_link(tree.roots(), address);
  ASSERT_TRUE(link);
  EXPECT_NEAR(link->bytes_per_second, 15.75e9, 1e7);
  EXPECT_EQ(link->lanes, 8);
  EXPECT_EQ(link->most_lanes, 16);
  tree.set(address, "current_link_speed", "2.5 GT/s PCIe");
  link = pci_link(tree.roots(), address);
  EXPECT_NEAR(link->bytes_per_second, 2e9, 1);
  for (const char* speed : {"Unknown", "", "-1", "nan"}) {
    tree.set(address, "current_link_speed", speed);
    EXPECT_FALSE(pci_link(tree.roots(), address)) << speed;
  }
  EXPECT_FALSE(pci_link(tree.roots(), ""));
}

}  // namespace fathom::devices::intel_test
