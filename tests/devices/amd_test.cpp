// The backend for AMD's cards, on folders like those of their driver.
#include <gtest/gtest.h>

#include "devices/amd_reading.h"
#include "devices/cards.h"
#include "devices/known_devices.h"

namespace fathom::devices::amd_test {

constexpr double kMhz = 1e6;

GpuDevice only_device(const KernelTree& tree, Backend& backend) {
  const Look look = backend.look({}, true);
  EXPECT_EQ(look.devices.size(), 1u) << tree.path("");
  return look.devices.empty() ? GpuDevice{} : look.devices[0];
}

TEST(Amd, IsNotThereWithoutACard) {
  const KernelTree tree;
  EXPECT_EQ(amd_backend(tree.roots()), nullptr);
  tree.gpu("0000:00:02.0", "i915", {{"vendor", "0x8086"}});
  EXPECT_EQ(amd_backend(tree.roots()), nullptr);
}

TEST(Amd, TellsEachMetricInItsUnit) {
  const KernelTree tree;
  add_radeon(tree);
  tree.write("share/libdrm/amdgpu.ids",
             "1.0.0\n73BF,\tC0,\tno\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n");
  tree.write("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  const auto backend = amd_backend(tree.roots());
  ASSERT_NE(backend, nullptr);
  const GpuDevice gpu = only_device(tree, *backend);
  EXPECT_EQ(gpu.uuid, "amd-4f3a2b1c00112233");
  EXPECT_EQ(gpu.pci_address, "0000:03:00.0");
  EXPECT_EQ(gpu.name, "AMD Radeon RX 6800 XT");
  EXPECT_EQ(gpu.vendor, "AMD");
  EXPECT_EQ(gpu.backend, "amdgpu");
  EXPECT_EQ(gpu.driver, "Linux 6.1.0-13-amd64");
  EXPECT_EQ(gpu.state, DeviceState::ok);
  EXPECT_EQ(gpu.memory_total_bytes, 17163091968);
  EXPECT_EQ(gpu.now.memory_used_bytes, 5368709120);
  EXPECT_EQ(gpu.now.memory_free_bytes, 17163091968 - 5368709120);
  EXPECT_EQ(gpu.now.utilization_percent, 97);
  EXPECT_EQ(gpu.now.memory_utilization_percent, 41);
  EXPECT_EQ(gpu.now.temperature_celsius, 62);
  EXPECT_EQ(gpu.now.memory_temperature_celsius, 74);
  EXPECT_EQ(gpu.slowdown_celsius, 100);
  EXPECT_EQ(gpu.shutdown_celsius, 105);
  EXPECT_EQ(gpu.now.power_watts, 203);
  EXPECT_EQ(gpu.power_limit_watts, 255);
  EXPECT_EQ(gpu.now.fan_rpm, 1480);
  EXPECT_EQ(gpu.now.fan_percent, 40);
  EXPECT_EQ(gpu.now.core_clock_hz, 2110 * kMhz);
  EXPECT_EQ(gpu.now.memory_clock_hz, 1000 * kMhz);
  EXPECT_EQ(gpu.max_core_clock_hz, 2475 * kMhz);
  EXPECT_EQ(gpu.max_memory_clock_hz, 1000 * kMhz);
  EXPECT_EQ(gpu.now.throttle, 0u);
  EXPECT_FALSE(gpu.now.ecc_corrected);
  EXPECT_FALSE(gpu.now.energy_joules);
}

TEST(Amd, WhatIsMissingOrDamagedIsAbsent) {
  const KernelTree tree;
  tree.gpu("0000:03:00.0", "amdgpu",
           {{"vendor", "0x1002"},
            {"device", "0x73bf"},
            {"unique_id", "0000000000000000"},
            {"gpu_busy_percent", "255"},
            {"mem_info_vram_total", "many"},
            {"gpu_metrics", "abc"},
            {"hwmon/hwmon0/name", "amdgpu"},
            {"hwmon/hwmon0/temp1_label", "edge"},
            {"hwmon/hwmon0/temp1_input", ""}});
  const GpuDevice gpu = only_device(tree, *amd_backend(tree.roots()));
  EXPECT_EQ(gpu.state, DeviceState::ok);
  EXPECT_EQ(gpu.uuid, "pci-0000:03:00.0");
  EXPECT_EQ(gpu.name, "AMD GPU 73bf");
  EXPECT_FALSE(gpu.now.utilization_percent);
  EXPECT_FALSE(gpu.memory_total_bytes);
  EXPECT_FALSE(gpu.now.memory_used_bytes);
  EXPECT_FALSE(gpu.now.temperature_celsius);
  EXPECT_FALSE(gpu.now.power_watts);
  EXPECT_FALSE(gpu.now.fan_percent);
  EXPECT_FALSE(gpu.now.throttle);
}

TEST(Amd, NameOfPciIdsIsWhatItIsSoldAs) {
  const KernelTree tree;
  add_radeon(tree);
  tree.write("share/misc/pci.ids",
             "# names\n1001  Other\n\t73bf  Wrong\n1002  AMD/ATI\n\t73be  No\n"
             "\t73bf  Navi 21 [Radeon RX 6800/6900 XT]\n\t\t1002 0e3a  Board\n");
  EXPECT_EQ(only_device(tree, *amd_backend(tree.roots())).name, "AMD Radeon RX 6800/6900 XT");
}

TEST(Amd, AnApuUsesMemoryOfTheHost) {
  const KernelTree tree;
  add_apu(tree);
  tree.program(77, "/usr/bin/game",
               {{5,
                 {"dri/renderD129",
                  "drm-pdev:\t0000:04:00.0\ndrm-client-id:\t3\n"
                  "drm-memory-vram:\t1024 KiB\ndrm-memory-gtt:\t2048 KiB\n"}}});
  const GpuDevice gpu = only_device(tree, *amd_backend(tree.roots()));
  EXPECT_EQ(gpu.memory_total_bytes, 536870912 + 8053063680);
  EXPECT_EQ(gpu.now.memory_used_bytes, 268435456 + 1073741824);
  EXPECT_EQ(gpu.now.power_watts, 14);
  EXPECT_EQ(gpu.now.temperature_celsius, 48);
  EXPECT_EQ(gpu.now.throttle, static_cast<std::uint32_t>(ThrottleReason::power_cap));
  EXPECT_FALSE(gpu.now.fan_rpm);
  ASSERT_EQ(gpu.processes.size(), 1u);
  EXPECT_EQ(gpu.processes[0].memory_bytes, 3 << 20);
}

TEST(Amd, EightInstinctsWithTheirComputePrograms) {
  const KernelTree tree;
  for (int i = 0; i < 8; ++i) add_instinct(tree, i);
  tree.write("sys/class/kfd/kfd/proc/4711/vram_1003", "64000000000\n");
  tree.write("proc/4711/cmdline", std::string("/usr/bin/python3\0train.py\0", 26));
  // What has the card open, too, is one program; the larger figure counts.
  tree.program(4712, "server",
               {{9,
                 {"dri/renderD133",
                  "drm-pdev: 0000:c3:00.0\ndrm-client-id: 1\n"
                  "drm-resident-vram: 10 MiB\n"}}});
  tree.write("sys/class/kfd/kfd/proc/4712/vram_1003", "5000\n");
  const auto backend = amd_backend(tree.roots());
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 8u);
  const GpuDevice& gpu = look.devices[3];
  EXPECT_EQ(gpu.index, 3u);
  EXPECT_EQ(gpu.name, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.uuid, "amd-aa00000000000033");
  EXPECT_EQ(gpu.now.utilization_percent, 30);
  EXPECT_EQ(gpu.now.temperature_celsius, 51);  // junction: it has no edge
  EXPECT_EQ(gpu.now.ecc_corrected, 7u);
  EXPECT_EQ(gpu.now.ecc_uncorrected, 1u);
  EXPECT_FALSE(gpu.now.throttle);  // this version of gpu_metrics does not tell
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(gpu.processes[0].pid, 4711);
  EXPECT_EQ(gpu.processes[0].name, "python3");
  EXPECT_EQ(gpu.processes[0].memory_bytes, 64000000000);
  EXPECT_EQ(gpu.processes[1].memory_bytes, 10 << 20);
  EXPECT_TRUE(look.devices[2].processes.empty());
}

TEST(Amd, ASleepingCardIsNotRead) {
  const KernelTree tree;
  add_radeon(tree);
  tree.set("0000:03:00.0", "power/runtime_status", "suspended");
  const auto backend = amd_backend(tree.roots());
  GpuDevice gpu = only_device(tree, *backend);
  EXPECT_EQ(gpu.state, DeviceState::suspended);
  EXPECT_EQ(gpu.uuid, "pci-0000:03:00.0");  // to ask for its own would wake it
  EXPECT_FALSE(gpu.now.power_watts);
  EXPECT_FALSE(gpu.max_core_clock_hz);
  // Awake it is the same device, which the watcher knows by its address.
  KnownDevices known(1);
  known.take(0, {gpu}, true, {});
  tree.set("0000:03:00.0", "power/runtime_status", "active");
  gpu = only_device(tree, *backend);
  EXPECT_EQ(gpu.state, DeviceState::ok);
  EXPECT_EQ(gpu.now.power_watts, 203);
  known.take(0, {gpu}, true, {});
  EXPECT_EQ(known.list({}).size(), 1u);
  // Asleep again it keeps its name, and is not read.
  tree.set("0000:03:00.0", "power/runtime_status", "suspended");
  tree.set("0000:03:00.0", "gpu_busy_percent", "3");
  gpu = only_device(tree, *backend);
  EXPECT_EQ(gpu.state, DeviceState::suspended);
  EXPECT_EQ(gpu.uuid, "amd-4f3a2b1c00112233");
  EXPECT_FALSE(gpu.now.utilization_percent);
}

TEST(Amd, ACardThatLosesItsDriverIsLostUntilItIsBack) {
  const KernelTree tree;
  add_radeon(tree);
  add_apu(tree);
  const auto backend = amd_backend(tree.roots());
  EXPECT_EQ(backend->look({}, true).devices.size(), 2u);
  tree.bind("0000:03:00.0", "");
  Look look = backend->look({}, false);
  EXPECT_EQ(look.devices[0].state, DeviceState::lost);
  EXPECT_EQ(look.devices[1].state, DeviceState::ok);
  EXPECT_EQ(backend->look({}, true).devices.size(), 1u);
  // After a reload its sensors have another number.
  tree.bind("0000:03:00.0", "amdgpu");
  tree.remove(KernelTree::pci("0000:03:00.0") + "/hwmon");
  tree.set("0000:03:00.0", "hwmon/hwmon9/name", "amdgpu");
  tree.set("0000:03:00.0", "hwmon/hwmon9/power1_average", "99000000");
  look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[0].uuid, "amd-4f3a2b1c00112233");
  EXPECT_EQ(look.devices[0].now.power_watts, 99);
}

TEST(Amd, ReloadBetweenTwoLooksIsNoticedAtTheNextDiscovery) {
  const KernelTree tree;
  add_radeon(tree);
  const auto backend = amd_backend(tree.roots());
  backend->look({}, true);
  tree.remove(KernelTree::pci("0000:03:00.0") + "/hwmon");
  tree.set("0000:03:00.0", "hwmon/hwmon9/name", "amdgpu");
  tree.set("0000:03:00.0", "hwmon/hwmon9/power1_average", "99000000");
  EXPECT_FALSE(backend->look({}, false).devices[0].now.power_watts);
  EXPECT_EQ(backend->look({}, true).devices[0].now.power_watts, 99);
}

TEST(Amd, ReadsOnlyWhatIsWanted) {
  const KernelTree tree;
  add_radeon(tree);
  const auto backend = amd_backend(tree.roots());
  const Wanted none{.processes = false, .thermal = false, .power = false, .memory = false};
  const GpuDevice gpu = backend->look(none, true).devices.at(0);
  EXPECT_EQ(gpu.now.utilization_percent, 97);
  EXPECT_FALSE(gpu.now.memory_used_bytes);
  EXPECT_FALSE(gpu.now.temperature_celsius);
  EXPECT_FALSE(gpu.now.power_watts);
}

TEST(AmdReading, ThrottleBitsMeanReasons) {
  const auto bit = [](ThrottleReason reason) { return static_cast<std::uint32_t>(reason); };
  const auto of = [](unsigned number) {
    return amd::throttle_in(gpu_metrics(1, 3, std::uint64_t{1} << number));
  };
  EXPECT_EQ(of(0), bit(ThrottleReason::power_cap));
  EXPECT_EQ(of(16), bit(ThrottleReason::power_cap));
  EXPECT_EQ(of(36), bit(ThrottleReason::hardware_thermal));
  EXPECT_EQ(of(47), bit(ThrottleReason::hardware_slowdown));
  EXPECT_FALSE(amd::throttle_in(gpu_metrics(1, 3, ~std::uint64_t{0})));  // not known
  EXPECT_FALSE(amd::throttle_in(gpu_metrics(1, 4, 1)));
  EXPECT_FALSE(amd::throttle_in(gpu_metrics(1, 3, 1).substr(0, 100)));
  EXPECT_FALSE(amd::throttle_in(""));
}

TEST(AmdReading, FastestClock) {
  EXPECT_EQ(amd::fastest_clock("S: 19Mhz *\n0: 500Mhz\n1: 2100Mhz"), 2100 * kMhz);
  EXPECT_FALSE(amd::fastest_clock(""));
  EXPECT_FALSE(amd::fastest_clock("0: fast\n1:\n2: Mhz"));
}

}  // namespace fathom::devices::amd_test
