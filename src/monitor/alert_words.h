#pragma once

#include <string>
#include <string_view>

#include "fathom/monitor.h"

// What alerts say.
namespace fathom::monitor {

std::string_view name_of(AlertKind kind);
std::string_view name_of(AlertSeverity severity);

// Those that mean trouble, in words: "too hot (hardware), external power brake".
constexpr std::uint32_t kAlarmingReasons =
    static_cast<std::uint32_t>(ThrottleReason::hardware_thermal) |
    static_cast<std::uint32_t>(ThrottleReason::software_thermal) |
    static_cast<std::uint32_t>(ThrottleReason::hardware_slowdown) |
    static_cast<std::uint32_t>(ThrottleReason::power_brake);
std::string alarming_reasons(std::uint32_t throttle);

std::string cause_of_heat(const GpuDevice& device);
std::string largest_program(const GpuDevice& device);  // "python3 (pid 4101) has 40 GB of it"
std::string busiest_program(const GpuDevice& device);
std::string cause_of_xid(std::uint64_t xid);

}  // namespace fathom::monitor
