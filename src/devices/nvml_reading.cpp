#include "devices/nvml_reading.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "devices/kernel_files.h"

namespace fathom::devices::nvml {
namespace {

constexpr int kResetRequired = 16;

// The answer to one question, where there is one.
template <typename Answer, typename... Types, typename... Args>
std::optional<Answer> ask(Failures& failures, const Function<Types...>& function, Args... args) {
  Answer answer{};
  if (!failures.passed(function(args..., &answer))) return {};
  return answer;
}

template <typename... Args>
std::optional<double> ask_number(Failures& failures, const Function<Args..., unsigned*>& function,
                                 std::type_identity_t<Args>... args, double unit) {
  const std::optional<unsigned> answer = ask<unsigned>(failures, function, args...);
  if (!answer || *answer == kNone32) return {};
  return *answer * unit;
}

std::optional<std::int64_t> bytes(std::uint64_t value) {
  if (value == kNone64) return {};
  return static_cast<std::int64_t>(value);
}

std::string text(Failures& failures, const Function<Device, char*, unsigned>& function,
                 Device device) {
  std::array<char, 97> room{};  // the longest that any version asks for, and an end
  if (!failures.passed(function(device, room.data(), room.size() - 1))) return {};
  return room.data();
}

std::optional<double> percent(Failures& failures,
                              const Function<Device, unsigned*, unsigned*>& function,
                              Device device) {
  unsigned share = 0;
  unsigned period_us = 0;
  if (!failures.passed(function(device, &share, &period_us)) || share > 100) return {};
  return share;
}

std::optional<double> memory_temperature(const Library& library, Device device) {
  FieldValue value{};
  value.field = kFieldMemoryTemperature;
  if (library.fields(device, 1, &value) != kSuccess || value.result != kSuccess) return {};
  if (value.value.as_u32 == 0 || value.value.as_u32 == kNone32) return {};
  return value.value.as_u32;
}

void read_thermal(const Library& library, Device device, GpuReading& now, Failures& failures) {
  now.temperature_celsius = ask_number<Device, int>(failures, library.temperature, device,
                                                    static_cast<int>(kSensorDie), 1);
  now.memory_temperature_celsius = memory_temperature(library, device);
  now.fan_percent = ask_number<Device>(failures, library.fan, device, 1);
}

}  // namespace

bool Failures::passed(int result) {
  switch (result) {
    case kSuccess:
      return true;
    case kGpuIsLost:
    case kGpuNotFound:
      is_lost = true;
      break;
    case kResetRequired:
      needs_reset = true;
      break;
    case kUninitialized:
    case kDriverNotLoaded:
    case kLibraryMismatch:
      of_driver = result;
      break;
    default:  // not supported, not permitted, not there: this answer alone is absent
      break;
  }
  return false;
}

std::string kernel_address(const PciInfo& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

std::uint32_t throttle_reasons(std::uint64_t bits) {
  constexpr std::array<std::pair<std::uint64_t, ThrottleReason>, 9> kReasons = {
      {{kThrottleIdle, ThrottleReason::idle},
       {kThrottleApplicationClocks, ThrottleReason::application_clocks},
       {kThrottlePowerCap, ThrottleReason::power_cap},
       {kThrottleHardwareSlowdown, ThrottleReason::hardware_slowdown},
       {kThrottleSyncBoost, ThrottleReason::sync_boost},
       {kThrottleSoftwareThermal, ThrottleReason::software_thermal},
       {kThrottleHardwareThermal, ThrottleReason::hardware_thermal},
       {kThrottlePowerBrake, ThrottleReason::power_brake},
       {kThrottleDisplayClocks, ThrottleReason::display_clocks}}};
  std::uint32_t reasons = 0;
  for (const auto& [bit, reason] : kReasons) {
    if ((bits & bit) != 0) reasons |= static_cast<std::uint32_t>(reason);
  }
  return reasons;
}

std::optional<GpuDevice> identity(const Library& library, Device device, Failures& failures) {
  GpuDevice gpu{.vendor = "NVIDIA", .type = "gpu", .backend = "nvml"};
  gpu.uuid = text(failures, library.uuid, device);
  gpu.name = text(failures, library.name, device);
  if (const auto pci = ask<PciInfo>(failures, library.pci, device)) {
    gpu.pci_address = kernel_address(*pci);
  }
  if (gpu.uuid.empty() && !gpu.pci_address.empty()) gpu.uuid = "pci-" + gpu.pci_address;
  if (gpu.uuid.empty()) return {};
  return gpu;
}

void read_limits(const Library& library, Device device, GpuDevice& into, Failures& failures) {
  into.power_limit_watts = ask_number<Device>(failures, library.power_limit, device, 1e-3);
  into.max_core_clock_hz = ask_number<Device, int>(failures, library.max_clock, device,
                                                   static_cast<int>(kClockSm), kMhz);
  into.max_memory_clock_hz = ask_number<Device, int>(failures, library.max_clock, device,
                                                     static_cast<int>(kClockMemory), kMhz);
  const auto threshold = [&](Threshold which) {
    return ask_number<Device, int>(failures, library.temperature_threshold, device,
                                   static_cast<int>(which), 1);
  };
  into.slowdown_celsius = threshold(kThresholdSlowdown);
  into.shutdown_celsius = threshold(kThresholdShutdown);
}

namespace {

// Of the machine, which a GPU without memory of its own takes it from; by everybody.
void read_host_memory(const Roots& roots, GpuDevice& into) {
  const std::string text = "\n" + read_text(roots.proc + "/meminfo").value_or("");
  const auto bytes_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    const std::size_t place = text.find(fmt::format("\n{}:", name));
    if (place == std::string::npos) return {};
    const std::size_t digits = text.find_first_of("0123456789", place);
    if (digits == std::string::npos) return {};
    const auto kilobytes = parse_number(std::string_view(text).substr(digits));
    return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
  };
  into.memory_total_bytes = bytes_of("MemTotal");
  into.now.memory_free_bytes = bytes_of("MemAvailable");
  if (into.memory_total_bytes && into.now.memory_free_bytes)
    into.now.memory_used_bytes = *into.memory_total_bytes - *into.now.memory_free_bytes;
}

}  // namespace

// The first version says that what the driver reserves is used. It is asked only where the second
// is not there.
void read_memory(const Library& library, Device device, const Roots& roots, GpuDevice& into,
                 Failures& failures) {
  MemoryV2 memory{};
  memory.version = kMemoryV2;
  if (failures.passed(library.memory_v2(device, &memory))) {
    if (memory.total == 0) return read_host_memory(roots, into);
    into.memory_total_bytes = bytes(memory.total);
    into.now.memory_used_bytes = bytes(memory.used);
    into.now.memory_free_bytes = bytes(memory.free);
    into.now.memory_reserved_bytes = bytes(memory.reserved);
    return;
  }
  const auto old = ask<MemoryV1>(failures, library.memory_v1, device);
  if (!old) return;
  if (old->total == 0) return read_host_memory(roots, into);
  into.memory_total_bytes = bytes(old->total);
  into.now.memory_used_bytes = bytes(old->used);
  into.now.memory_free_bytes = bytes(old->free);
}

void read_now(const Library& library, Device device, const Wanted& wanted, const Roots& roots,
              GpuDevice& into, Failures& failures) {
  GpuReading& now = into.now;
  if (const auto shares = ask<Utilization>(failures, library.utilization, device)) {
    if (shares->gpu <= 100) now.utilization_percent = shares->gpu;
    if (shares->memory <= 100) now.memory_utilization_percent = shares->memory;
  }
  if (failures.is_lost || failures.of_driver != kSuccess) return;
  if (wanted.memory) read_memory(library, device, roots, into, failures);
  if (wanted.thermal) read_thermal(library, device, now, failures);
  if (wanted.power) {
    now.power_watts = ask_number<Device>(failures, library.power, device, 1e-3);
    const auto millijoules = ask<std::uint64_t>(failures, library.energy, device);
    if (millijoules && *millijoules != kNone64) {
      now.energy_joules = static_cast<double>(*millijoules) * 1e-3;
    }
  }
  now.core_clock_hz =
      ask_number<Device, int>(failures, library.clock, device, static_cast<int>(kClockSm), kMhz);
  now.memory_clock_hz = ask_number<Device, int>(failures, library.clock, device,
                                                static_cast<int>(kClockMemory), kMhz);
  now.encoder_percent = percent(failures, library.encoder, device);
  now.decoder_percent = percent(failures, library.decoder, device);
  if (const auto bits = ask<std::uint64_t>(failures, library.throttle, device)) {
    now.throttle = throttle_reasons(*bits);
  }
  now.ecc_corrected = ask<std::uint64_t>(failures, library.ecc, device,
                                         static_cast<int>(kEccCorrected), kCounterVolatile);
  now.ecc_uncorrected = ask<std::uint64_t>(failures, library.ecc, device,
                                           static_cast<int>(kEccUncorrected), kCounterVolatile);
}

}  // namespace fathom::devices::nvml
