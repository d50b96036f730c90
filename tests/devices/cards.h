#pragma once

#include <string>

#include "devices/kernel_tree.h"

// Cards as their drivers show them in /sys.
namespace fathom::devices {

// gpu_metrics of version 1.3 (cards) or 2.2 (processors) with these bits of throttling.
inline std::string gpu_metrics(int format, int content, std::uint64_t throttle_bits) {
  const bool is_card = format == 1;
  std::string bytes(is_card ? 120 : 128, '\0');
  bytes[0] = static_cast<char>(bytes.size());
  bytes[2] = static_cast<char>(format);
  bytes[3] = static_cast<char>(content);
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[(is_card ? 112 : 120) + i] = static_cast<char>(throttle_bits >> (8 * i));
  }
  return bytes;
}

inline void add_radeon(const KernelTree& tree, const std::string& address = "0000:03:00.0") {
  tree.gpu(address, "amdgpu",
           {{"vendor", "0x1002"},
            {"device", "0x73bf"},
            {"revision", "0xc1"},
            {"unique_id", "4f3a2b1c00112233"},
            {"gpu_busy_percent", "97"},
            {"mem_busy_percent", "41"},
            {"mem_info_vram_total", "17163091968"},
            {"mem_info_vram_used", "5368709120"},
            {"mem_info_gtt_total", "33554432000"},
            {"mem_info_gtt_used", "1048576"},
            {"pp_dpm_sclk", "0: 500Mhz\n1: 2110Mhz *\n2: 2475Mhz"},
            {"pp_dpm_mclk", "0: 96Mhz\n1: 1000Mhz *"},
            {"gpu_metrics", gpu_metrics(1, 3, 0)},
            {"hwmon/hwmon3/name", "amdgpu"},
            {"hwmon/hwmon3/temp1_label", "edge"},
            {"hwmon/hwmon3/temp1_input", "62000"},
            {"hwmon/hwmon3/temp1_crit", "100000"},
            {"hwmon/hwmon3/temp1_emergency", "105000"},
            {"hwmon/hwmon3/temp2_label", "junction"},
            {"hwmon/hwmon3/temp2_input", "81000"},
            {"hwmon/hwmon3/temp3_label", "mem"},
            {"hwmon/hwmon3/temp3_input", "74000"},
            {"hwmon/hwmon3/power1_average", "203000000"},
            {"hwmon/hwmon3/power1_cap", "255000000"},
            {"hwmon/hwmon3/fan1_input", "1480"},
            {"hwmon/hwmon3/pwm1", "102"},
            {"hwmon/hwmon3/pwm1_max", "255"},
            {"hwmon/hwmon3/freq1_label", "sclk"},
            {"hwmon/hwmon3/freq1_input", "2110000000"},
            {"hwmon/hwmon3/freq2_label", "mclk"},
            {"hwmon/hwmon3/freq2_input", "1000000000"},
            {"drm/card0/dev", "226:0"},
            {"drm/renderD128/dev", "226:128"},
            {"drm/card0-DP-1/status", "connected"}});
}

// Part of a processor: little memory of its own, no fan, no sensor of memory, power of the whole.
inline void add_apu(const KernelTree& tree, const std::string& address = "0000:04:00.0") {
  tree.gpu(address, "amdgpu",
           {{"vendor", "0x1002"},
            {"device", "0x1681"},
            {"gpu_busy_percent", "12"},
            {"mem_info_vram_total", "536870912"},
            {"mem_info_vram_used", "268435456"},
            {"mem_info_gtt_total", "8053063680"},
            {"mem_info_gtt_used", "1073741824"},
            {"gpu_metrics", gpu_metrics(2, 2, 1)},
            {"hwmon/hwmon5/name", "amdgpu"},
            {"hwmon/hwmon5/temp1_label", "edge"},
            {"hwmon/hwmon5/temp1_input", "48000"},
            {"hwmon/hwmon5/power1_input", "14000000"},
            {"hwmon/hwmon5/in1_label", "vddnb"},
            {"drm/card1/dev", "226:1"},
            {"drm/renderD129/dev", "226:129"}});
}

// One of several in a server, number 0 to 7: no sensor at the edge, errors of memory counted, known
// to the compute driver.
inline void add_instinct(const KernelTree& tree, int number) {
  const std::string digit = std::to_string(number);
  const std::string address = "0000:c" + digit + ":00.0";
  const std::string hwmon = "hwmon/hwmon" + digit;
  tree.gpu(address, "amdgpu",
           {{"class", "0x120000"},
            {"vendor", "0x1002"},
            {"device", "0x74a1"},
            {"unique_id", "aa000000000000" + digit + digit},
            {"product_name", "Instinct MI300X"},
            {"gpu_busy_percent", digit + "0"},
            {"mem_info_vram_total", "206141652992"},
            {"mem_info_vram_used", "298000000"},
            {"gpu_metrics", std::string("\x78\x00\x01\x05", 4) + std::string(116, '\0')},
            {"ras/umc_err_count", "ue: 1\nce: 7"},
            {hwmon + "/name", "amdgpu"},
            {hwmon + "/temp2_label", "junction"},
            {hwmon + "/temp2_input", "51000"},
            {hwmon + "/power1_input", "141000000"},
            {hwmon + "/power1_cap", "750000000"},
            {"drm/card" + digit + "/dev", "226:" + digit},
            {"drm/renderD13" + digit + "/dev", "226:13" + digit}});
  const std::string node = "sys/class/kfd/kfd/topology/nodes/" + std::to_string(number + 1);
  tree.write(node + "/gpu_id", std::to_string(1000 + number) + "\n");
  tree.write(node + "/properties", "cpu_cores_count 0\nlocation_id " +
                                       std::to_string((0xC0 + number) << 8) + "\ndomain 0\n");
}

inline void add_i915(const KernelTree& tree, const std::string& address = "0000:00:02.0") {
  tree.gpu(address, "i915",
           {{"vendor", "0x8086"},
            {"device", "0x56a0"},
            {"drm/card0/gt/gt0/rps_act_freq_mhz", "2050"},
            {"drm/card0/gt/gt0/rps_RP0_freq_mhz", "2400"},
            {"drm/card0/gt/gt0/rc6_residency_ms", "1000"},
            {"drm/card0/gt/gt0/throttle_reason_status", "1"},
            {"drm/card0/gt/gt0/throttle_reason_pl1", "1"},
            {"drm/card0/gt/gt0/throttle_reason_thermal", "0"},
            {"drm/renderD128/dev", "226:128"},
            {"hwmon/hwmon1/name", "i915_gt0"},
            {"hwmon/hwmon2/name", "i915"},
            {"hwmon/hwmon2/energy1_input", "5000000"},
            {"hwmon/hwmon2/power1_max", "0"},
            {"hwmon/hwmon2/power1_rated_max", "190000000"},
            {"hwmon/hwmon2/fan1_input", "900"}});
}

inline void add_xe(const KernelTree& tree, const std::string& address = "0000:05:00.0") {
  tree.gpu(address, "xe",
           {{"vendor", "0x8086"},
            {"device", "0xe20b"},
            {"drm/card2/dev", "226:2"},
            {"drm/renderD130/dev", "226:130"},
            {"tile0/gt0/freq0/act_freq", "2850"},
            {"tile0/gt0/freq0/rp0_freq", "2850"},
            {"tile0/gt0/freq0/throttle/status", "0"},
            {"tile0/gt0/gtidle/name", "gt0-rc"},
            {"tile0/gt0/gtidle/idle_residency_ms", "1000"},
            {"tile0/gt1/freq0/act_freq", "9999"},
            {"tile0/gt1/gtidle/name", "gt1-mc"},
            {"tile0/gt1/gtidle/idle_residency_ms", "0"},
            {"hwmon/hwmon4/name", "xe"},
            {"hwmon/hwmon4/energy1_input", "7000000"},
            {"hwmon/hwmon4/power1_max", "190000000"},
            {"hwmon/hwmon4/temp2_label", "pkg"},
            {"hwmon/hwmon4/temp2_input", "55000"},
            {"hwmon/hwmon4/temp3_label", "vram"},
            {"hwmon/hwmon4/temp3_input", "60000"}});
}

}  // namespace fathom::devices
