#include "monitor/alert_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"

namespace fathom::monitor {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {
    "thermal", "memory", "utilization", "device_lost", "xid", "ecc", "throttling", "leak"};

struct ReasonWords {
  ThrottleReason reason;
  std::string_view words;
};
constexpr std::array kReasons = {
    ReasonWords{ThrottleReason::hardware_thermal, "too hot (hardware)"},
    ReasonWords{ThrottleReason::software_thermal, "too hot (driver)"},
    ReasonWords{ThrottleReason::hardware_slowdown, "hardware slowdown"},
    ReasonWords{ThrottleReason::power_brake, "external power brake"},
};

struct XidWords {
  std::uint64_t xid;
  std::string_view cause;
};
constexpr std::array kXids = {
    XidWords{13,
             "A program computed with an address or an instruction that is not valid: run it under "
             "compute-sanitizer"},
    XidWords{31, "A program touched memory that was not its own: run it under compute-sanitizer"},
    XidWords{43, "A program was stopped after an error of its own; others go on"},
    XidWords{45, "A program ended while its work was on the GPU, or was ended after another error"},
    XidWords{48, "A memory error that could not be corrected: reset the GPU"},
    XidWords{61, "The GPU's own controller failed: reset the GPU; update the driver"},
    XidWords{62, "The GPU's own controller stopped: reset the GPU; update the driver"},
    XidWords{63, "A failing memory row was replaced: reset the GPU when it is convenient"},
    XidWords{64, "A failing memory row could not be replaced: reset the GPU, then replace it"},
    XidWords{74, "NVLink failed: look at the bridge, then at the other GPU"},
    XidWords{79, "The GPU fell off the bus: look at power, seating and temperature, then restart"},
    XidWords{92, "Many corrected memory errors: memory is wearing out"},
    XidWords{94, "A memory error that hit one program only: restart that program"},
    XidWords{95, "A memory error that may have hit every program: reset the GPU"},
    XidWords{119, "The GPU's system processor does not answer: reset the GPU; update the driver"},
    XidWords{120, "The GPU's system processor failed: reset the GPU; update the driver"},
};

std::string program_words(const GpuProcess& process) {
  return fmt::format("{} (pid {})", process.name.empty() ? "a program" : process.name, process.pid);
}

}  // namespace

std::string_view name_of(AlertKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(AlertSeverity severity) {
  return severity == AlertSeverity::critical ? "critical" : "warning";
}

std::string alarming_reasons(std::uint32_t throttle) {
  std::string all;
  for (const ReasonWords& each : kReasons) {
    const auto bit = static_cast<std::uint32_t>(each.reason);
    if ((throttle & bit) == 0) continue;
    if (!all.empty()) all += ", ";
    all += each.words;
  }
  return all;
}

std::string cause_of_heat(const GpuDevice& device) {
  constexpr double kStandsStill = 10;  // percent, while it is hot
  const GpuReading& now = device.now;
  if (now.fan_percent && *now.fan_percent < kStandsStill) {
    return fmt::format("Its fan runs at {:.0f} %: look whether it is blocked or broken",
                       *now.fan_percent);
  }
  std::string cause;
  if (now.fan_percent) cause = fmt::format("The fan runs at {:.0f} %. ", *now.fan_percent);
  if (now.power_watts && device.power_limit_watts) {
    return cause + fmt::format(
                       "It takes {:.0f} of {:.0f} W: improve the air flow, or lower its "
                       "power limit",
                       *now.power_watts, *device.power_limit_watts);
  }
  return cause + "Improve the air flow, or lower its power limit";
}

std::string largest_program(const GpuDevice& device) {
  const auto largest = std::ranges::max_element(
      device.processes, {},
      [](const GpuProcess& process) { return process.memory_bytes.value_or(-1); });
  if (largest == device.processes.end() || !largest->memory_bytes) return {};
  return fmt::format("{} has {} of it", program_words(*largest),
                     base::format_bytes(static_cast<double>(*largest->memory_bytes)));
}

std::string busiest_program(const GpuDevice& device) {
  const auto busiest = std::ranges::max_element(
      device.processes, {},
      [](const GpuProcess& process) { return process.utilization_percent.value_or(-1); });
  if (busiest == device.processes.end() || !busiest->utilization_percent) return {};
  return fmt::format("{} uses {:.0f} %", program_words(*busiest), *busiest->utilization_percent);
}

std::string cause_of_xid(std::uint64_t xid) {
  const auto found = std::ranges::find(kXids, xid, &XidWords::xid);
  return found == kXids.end() ? "NVIDIA's list of XID errors says what this number means"
                              : std::string(found->cause);
}

}  // namespace fathom::monitor
