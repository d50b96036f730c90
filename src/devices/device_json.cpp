#include "devices/device_json.h"

#include <optional>
#include <string>

namespace fathom::devices {
namespace {

using base::JsonWriter;

template <typename T>
void field(JsonWriter& json, std::string_view name, const std::optional<T>& known) {
  if (known) json.key(name).value(*known);
}

void field(JsonWriter& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.key(name).value(text);
}

void write_memory(JsonWriter& json, const GpuDevice& device) {
  field(json, "memory_total_bytes", device.memory_total_bytes);
  field(json, "memory_used_bytes", device.now.memory_used_bytes);
  field(json, "memory_free_bytes", device.now.memory_free_bytes);
  field(json, "memory_reserved_bytes", device.now.memory_reserved_bytes);
}

void write_shares(JsonWriter& json, const GpuReading& now) {
  field(json, "utilization_percent", now.utilization_percent);
  field(json, "memory_utilization_percent", now.memory_utilization_percent);
  field(json, "encoder_percent", now.encoder_percent);
  field(json, "decoder_percent", now.decoder_percent);
}

void write_sensors(JsonWriter& json, const GpuDevice& device) {
  const GpuReading& now = device.now;
  field(json, "temperature_celsius", now.temperature_celsius);
  field(json, "memory_temperature_celsius", now.memory_temperature_celsius);
  field(json, "slowdown_celsius", device.slowdown_celsius);
  field(json, "shutdown_celsius", device.shutdown_celsius);
  field(json, "power_watts", now.power_watts);
  field(json, "power_limit_watts", device.power_limit_watts);
  field(json, "energy_joules", now.energy_joules);
  field(json, "core_clock_hz", now.core_clock_hz);
  field(json, "memory_clock_hz", now.memory_clock_hz);
  field(json, "max_core_clock_hz", device.max_core_clock_hz);
  field(json, "max_memory_clock_hz", device.max_memory_clock_hz);
  field(json, "fan_percent", now.fan_percent);
  field(json, "fan_rpm", now.fan_rpm);
}

void write_trouble(JsonWriter& json, const GpuDevice& device) {
  const GpuReading& now = device.now;
  if (now.throttle) {
    json.key("throttle").begin_array();
    for (const ThrottleReason reason : throttle_reasons_of(*now.throttle)) {
      json.value(name_of(reason));
    }
    json.end_array();
  }
  field(json, "ecc_corrected", now.ecc_corrected);
  field(json, "ecc_uncorrected", now.ecc_uncorrected);
  if (device.last_error) {
    json.key("last_error").begin_object().key("xid").value(device.last_error->xid);
    json.key("time_ns").value(device.last_error->time_ns).end_object();
  }
  if (device.needs_reset) json.key("needs_reset").value(true);
}

void write_process(JsonWriter& json, const GpuProcess& process, Commands commands) {
  json.begin_object();
  json.key("pid").value(process.pid);
  json.key("name").value(process.name);
  if (commands == Commands::shown) field(json, "command", process.command);
  field(json, "memory_bytes", process.memory_bytes);
  field(json, "utilization_percent", process.utilization_percent);
  json.end_object();
}

}  // namespace

std::string_view name_of(DeviceState state) {
  switch (state) {
    case DeviceState::ok:
      return "ok";
    case DeviceState::suspended:
      return "suspended";
    case DeviceState::lost:
      return "lost";
    case DeviceState::no_permission:
      return "no_permission";
  }
  return "ok";
}

std::string_view name_of(ThrottleReason reason) {
  switch (reason) {
    case ThrottleReason::hardware_thermal:
      return "hardware_thermal";
    case ThrottleReason::software_thermal:
      return "software_thermal";
    case ThrottleReason::hardware_slowdown:
      return "hardware_slowdown";
    case ThrottleReason::power_brake:
      return "power_brake";
    case ThrottleReason::power_cap:
      return "power_cap";
    case ThrottleReason::sync_boost:
      return "sync_boost";
    case ThrottleReason::application_clocks:
      return "application_clocks";
    case ThrottleReason::display_clocks:
      return "display_clocks";
    case ThrottleReason::idle:
      return "idle";
  }
  return "";
}

std::vector<ThrottleReason> throttle_reasons_of(std::uint32_t bits) {
  std::vector<ThrottleReason> reasons;
  for (std::uint32_t bit = 1; bit <= static_cast<std::uint32_t>(ThrottleReason::idle); bit <<= 1) {
    if ((bits & bit) != 0) reasons.push_back(static_cast<ThrottleReason>(bit));
  }
  return reasons;
}

void write_device(JsonWriter& json, const GpuDevice& device, Commands commands) {
  json.begin_object();
  json.key("index").value(device.index);
  json.key("uuid").value(device.uuid);
  field(json, "pci_address", device.pci_address);
  json.key("name").value(device.name);
  json.key("vendor").value(device.vendor);
  json.key("type").value(device.type);
  field(json, "driver", device.driver);
  json.key("backend").value(device.backend);
  json.key("state").value(name_of(device.state));
  write_memory(json, device);
  write_shares(json, device.now);
  write_sensors(json, device);
  write_trouble(json, device);
  field(json, "age_seconds", device.age_seconds);
  json.key("processes").begin_array();
  for (const GpuProcess& process : device.processes) write_process(json, process, commands);
  json.end_array();
  json.key("processes_are_partial").value(device.processes_are_partial);
  json.end_object();
}

}  // namespace fathom::devices
