#include "devices/intel_reading.h"

#include <algorithm>
#include <array>
#include <utility>

#include "devices/hwmon.h"
#include "devices/kernel_files.h"

namespace fathom::devices::intel {
namespace {

std::optional<double> hertz_in(const std::string& path) {
  const std::optional<std::int64_t> mhz = read_number(path);
  if (!mhz || *mhz < 0) return {};
  return static_cast<double>(*mhz) * kMhz;
}

// Of i915, all in the folder of the card: gt/gt0/rps_act_freq_mhz, on older kernels
// gt_act_freq_mhz.
std::vector<Part> parts_of_i915(const PciGpu& pci) {
  const auto node = std::ranges::find_if(
      pci.nodes, [](const std::string& name) { return name.starts_with("card"); });
  if (node == pci.nodes.end()) return {};
  const std::string card = pci.folder + "/drm/" + *node;
  const std::string part = card + "/gt/gt0/";
  if (read_text(part + "rps_act_freq_mhz")) {
    return {{.clock = part + "rps_act_freq_mhz",
             .most_clock = part + "rps_RP0_freq_mhz",
             .asleep = part + "rc6_residency_ms",
             .is_throttled = part + "throttle_reason_status",
             .throttle_reason = part + "throttle_reason_"}};
  }
  return {{.clock = card + "/gt_act_freq_mhz",
           .most_clock = card + "/gt_RP0_freq_mhz",
           .asleep = card + "/power/rc6_residency_ms",
           .is_throttled = {},
           .throttle_reason = {}}};
}

// Of xe, in the folder of the PCI device: tile0/gt0/freq0/act_freq.
std::vector<Part> parts_of_xe(const PciGpu& pci) {
  std::vector<Part> parts;
  for (const std::string& tile : names_in(pci.folder)) {
    if (!tile.starts_with("tile")) continue;
    for (const std::string& each : names_in(pci.folder + "/" + tile)) {
      const std::string part = pci.folder + "/" + tile + "/" + each;
      if (!each.starts_with("gt")) continue;
      if (read_text(part + "/gtidle/name").value_or("").ends_with("-mc")) continue;  // media
      parts.push_back({.clock = part + "/freq0/act_freq",
                       .most_clock = part + "/freq0/rp0_freq",
                       .asleep = part + "/gtidle/idle_residency_ms",
                       .is_throttled = part + "/freq0/throttle/status",
                       .throttle_reason = part + "/freq0/throttle/reason_"});
    }
  }
  return parts;
}

// What slows it down; nothing where the driver does not tell, or tells no reason that we know.
std::optional<std::uint32_t> throttle_of(const Part& part) {
  const std::optional<std::int64_t> is_throttled = read_number(part.is_throttled);
  if (!is_throttled) return {};
  if (*is_throttled == 0) return 0;
  constexpr std::array<std::pair<const char*, ThrottleReason>, 8> kReasons = {
      {{"pl1", ThrottleReason::power_cap},
       {"pl2", ThrottleReason::power_cap},
       {"pl4", ThrottleReason::power_cap},
       {"vr_tdc", ThrottleReason::power_cap},
       {"thermal", ThrottleReason::hardware_thermal},
       {"ratl", ThrottleReason::hardware_thermal},
       {"vr_thermalert", ThrottleReason::hardware_thermal},
       {"prochot", ThrottleReason::hardware_slowdown}}};
  std::uint32_t reasons = 0;
  for (const auto& [name, reason] : kReasons) {
    if (read_number(part.throttle_reason + name).value_or(0) != 0) {
      reasons |= static_cast<std::uint32_t>(reason);
    }
  }
  if (reasons == 0) return {};
  return reasons;
}

// The first of these files that is there and not 0, which means that the limit is off.
std::optional<double> limit(const std::string& hwmon, std::initializer_list<const char*> files) {
  for (const char* file : files) {
    const std::optional<double> watts = hwmon_value(hwmon, file, kMicro);
    if (watts && *watts > 0) return watts;
  }
  return {};
}

// Of xe the sensors are labelled; of i915 the first is that of the GPU.
std::optional<double> temperature(const Card& card, const char* label, const char* otherwise) {
  const std::string sensor = hwmon_sensor(card.hwmon, "temp", label);
  const std::string file = sensor.empty() ? otherwise : sensor;
  if (file.empty()) return {};
  return hwmon_value(card.hwmon, file + "_input", kMilli);
}

}  // namespace

Card card_in(const PciGpu& pci) {
  Card card;
  card.is_xe = pci.driver == "xe";
  card.hwmon = hwmon_folder(pci.folder, pci.driver);
  card.parts = card.is_xe ? parts_of_xe(pci) : parts_of_i915(pci);
  return card;
}

std::optional<double> asleep_ms(const Part& part) {
  const std::optional<std::int64_t> ms = read_number(part.asleep);
  if (!ms) return {};
  return static_cast<double>(*ms);
}

void read_limits(const Card& card, GpuDevice& into) {
  into.power_limit_watts =
      limit(card.hwmon, {"power1_max", "power2_max", "power1_rated_max", "power2_rated_max"});
  for (const Part& part : card.parts) {
    const std::optional<double> most = hertz_in(part.most_clock);
    if (most) into.max_core_clock_hz = std::max(into.max_core_clock_hz.value_or(0), *most);
  }
}

void read_now(const Card& card, const Wanted& wanted, GpuDevice& into) {
  GpuReading& now = into.now;
  for (const Part& part : card.parts) {
    if (const std::optional<double> clock = hertz_in(part.clock)) {
      now.core_clock_hz = std::max(now.core_clock_hz.value_or(0), *clock);
    }
    if (const std::optional<std::uint32_t> reasons = throttle_of(part)) {
      now.throttle = now.throttle.value_or(0) | *reasons;
    }
  }
  if (wanted.thermal) {
    now.temperature_celsius = temperature(card, "pkg", card.is_xe ? "temp2" : "temp1");
    now.memory_temperature_celsius = temperature(card, "vram", card.is_xe ? "temp3" : "");
    now.fan_rpm = hwmon_value(card.hwmon, "fan1_input", 1);
  }
  if (wanted.power) {
    now.energy_joules = hwmon_value(card.hwmon, "energy1_input", kMicro);
    if (!now.energy_joules) now.energy_joules = hwmon_value(card.hwmon, "energy2_input", kMicro);
  }
}

}  // namespace fathom::devices::intel
