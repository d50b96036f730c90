#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a GPU is and what it does at the moment. What a driver does not tell is absent, never 0.
namespace fathom {

enum class DeviceState {
  ok,
  suspended,      // asleep to save power; it is not asked, because that would wake it
  lost,           // it was there, and does not answer any more
  no_permission,  // it is there, and its driver refuses to tell us of it
};

// Why clocks are lower than they could be. The first four are alarming; a power cap is normal under
// load, and an idle GPU clocks down.
enum class ThrottleReason : std::uint32_t {
  hardware_thermal = 1u << 0,
  software_thermal = 1u << 1,
  hardware_slowdown = 1u << 2,
  power_brake = 1u << 3,
  power_cap = 1u << 4,
  sync_boost = 1u << 5,
  application_clocks = 1u << 6,
  display_clocks = 1u << 7,
  idle = 1u << 8,
};

// One look at a device. Bytes, watts, degrees Celsius, hertz; shares are percent, 0 to 100.
struct GpuReading {
  // By programs, without what the driver reserves.
  std::optional<std::int64_t> memory_used_bytes = {};
  std::optional<std::int64_t> memory_free_bytes = {};
  std::optional<std::int64_t> memory_reserved_bytes = {};  // by the driver
  std::optional<double> utilization_percent = {};          // of the time in which any kernel ran
  // Of the time in which memory was read or written.
  std::optional<double> memory_utilization_percent = {};
  std::optional<double> encoder_percent = {};
  std::optional<double> decoder_percent = {};
  std::optional<double> temperature_celsius = {};
  std::optional<double> memory_temperature_celsius = {};
  std::optional<double> power_watts = {};
  std::optional<double> energy_joules = {};  // since the driver was loaded
  std::optional<double> core_clock_hz = {};
  std::optional<double> memory_clock_hz = {};
  std::optional<double> fan_percent = {};
  std::optional<double> fan_rpm = {};
  // ThrottleReason bits; 0 is "none", absent is "not known".
  std::optional<std::uint32_t> throttle = {};
  std::optional<std::uint64_t> ecc_corrected = {};
  std::optional<std::uint64_t> ecc_uncorrected = {};
};

// A program that uses a GPU.
struct GpuProcess {
  std::int64_t pid = 0;
  // /proc/PID/stat, field 22: tells a pid that was given again apart.
  std::uint64_t start_ticks = 0;
  std::string name = {};     // of the executable, without its folder
  std::string command = {};  // all of it; secrets may be in it: see monitor/redact.h
  std::optional<std::int64_t> memory_bytes = {};
  std::optional<double> utilization_percent = {};
};

// An error that the driver reported as it happened.
struct DeviceError {
  std::string uuid = {};
  std::int64_t time_ns = 0;  // since 1970
  std::uint64_t xid = 0;     // as NVIDIA numbers them
};

struct GpuDevice {
  unsigned index = 0;  // as they are listed; not a name: it may change when a device comes or goes
  std::string uuid = {};  // what it is told apart by: the driver's UUID, else "pci-0000:03:00.0"
  std::string pci_address = {};  // "0000:03:00.0"; empty where it has none
  std::string name = {};
  std::string vendor = {};  // "NVIDIA", "AMD", "Intel", or as the driver says
  std::string type = {};    // "gpu", "mig", "cpu", "accelerator"
  std::string driver = {};  // its version; empty where it is not known
  // Who told of it: "nvml", "amdgpu", "intel", "opencl", "nvidia-smi", "demo".
  std::string backend = {};
  DeviceState state = DeviceState::ok;
  std::optional<std::int64_t> memory_total_bytes = {};
  std::optional<double> power_limit_watts = {};
  std::optional<double> max_core_clock_hz = {};
  std::optional<double> max_memory_clock_hz = {};
  std::optional<double> slowdown_celsius = {};  // where it begins to slow itself down
  std::optional<double> shutdown_celsius = {};
  GpuReading now = {};
  std::optional<double> age_seconds = {};      // of `now`; grows while the driver does not answer
  std::vector<GpuProcess> processes = {};      // by memory, most first
  bool processes_are_partial = false;          // others' programs may be hidden from us
  bool needs_reset = false;                    // its driver says that it works again only after one
  std::optional<DeviceError> last_error = {};  // since it is watched
};

}  // namespace fathom
