#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fathom/monitor.h"

// What the line of a device says of it: what does not change from sample to sample.
// Written and read by this list.
namespace fathom::monitor {

struct IdentityText {
  std::string_view name;
  std::string GpuDevice::*member;
};
inline constexpr std::array kIdentityTexts = {
    IdentityText{"uuid", &GpuDevice::uuid},
    IdentityText{"pci_address", &GpuDevice::pci_address},
    IdentityText{"name", &GpuDevice::name},
    IdentityText{"vendor", &GpuDevice::vendor},
    IdentityText{"type", &GpuDevice::type},
    IdentityText{"driver", &GpuDevice::driver},
    IdentityText{"backend", &GpuDevice::backend},
};
struct IdentityNumber {
  std::string_view name;
  std::optional<double> GpuDevice::*member;
};
inline constexpr std::array kIdentityNumbers = {
    IdentityNumber{"power_limit_watts", &GpuDevice::power_limit_watts},
    IdentityNumber{"max_core_clock_hz", &GpuDevice::max_core_clock_hz},
    IdentityNumber{"max_memory_clock_hz", &GpuDevice::max_memory_clock_hz},
    IdentityNumber{"slowdown_celsius", &GpuDevice::slowdown_celsius},
    IdentityNumber{"shutdown_celsius", &GpuDevice::shutdown_celsius},
};

}  // namespace fathom::monitor
