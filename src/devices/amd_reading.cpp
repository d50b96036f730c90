#include "devices/amd_reading.h"

#include <algorithm>
#include <cstring>

#include "devices/hwmon.h"
#include "devices/kernel_files.h"

namespace fathom::devices::amd {
namespace {

std::optional<double> percent_in(const std::string& path) {
  const std::optional<std::int64_t> share = read_number(path);
  if (!share || *share < 0 || *share > 100) return {};
  return static_cast<double>(*share);
}

std::optional<double> sensor_value(const Card& card, const std::string& sensor, const char* file,
                                   double unit) {
  if (sensor.empty()) return {};
  return hwmon_value(card.hwmon, sensor + file, unit);
}

// A number of so many bytes at this place, as the driver lays it down: least byte first.
template <typename Number>
std::optional<Number> number_at(std::string_view bytes, std::size_t place) {
  Number number = 0;
  if (bytes.size() < place + sizeof number) return {};
  std::memcpy(&number, bytes.data() + place, sizeof number);
  if (number == static_cast<Number>(~Number{0})) return {};  // all ones: not known
  return number;
}

// gpu_metrics begins with its size and version. Version 1 is that of cards, 2 and 3 of processors.
struct MetricsVersion {
  int format = 0, content = 0;
};
std::optional<MetricsVersion> version_of(std::string_view metrics) {
  const auto size = number_at<std::uint16_t>(metrics, 0);
  const auto format = number_at<std::uint8_t>(metrics, 2);
  const auto content = number_at<std::uint8_t>(metrics, 3);
  if (!size || *size != metrics.size() || !format || !content) return {};
  return MetricsVersion{*format, *content};
}

// An APU has memory of its own that the firmware took from the host's, and uses more of that.
void read_memory(const Card& card, GpuDevice& into) {
  const auto file = [&](const char* name) { return read_number(card.folder + name); };
  std::optional<std::int64_t> total = file("/mem_info_vram_total");
  std::optional<std::int64_t> used = file("/mem_info_vram_used");
  if (card.is_apu) {
    const auto of_host = file("/mem_info_gtt_total");
    const auto used_of_host = file("/mem_info_gtt_used");
    if (total && of_host) *total += *of_host;
    if (used && used_of_host) *used += *used_of_host;
  }
  into.memory_total_bytes = total;
  into.now.memory_used_bytes = used;
  if (total && used && *used <= *total) into.now.memory_free_bytes = *total - *used;
}

void read_thermal(const Card& card, GpuReading& now) {
  now.temperature_celsius = sensor_value(card, card.sensor, "_input", kMilli);
  now.memory_temperature_celsius = sensor_value(card, card.memory_sensor, "_input", kMilli);
  now.fan_rpm = hwmon_value(card.hwmon, "fan1_input", 1);
  const auto strength = hwmon_value(card.hwmon, "pwm1", 1);
  const double most = hwmon_value(card.hwmon, "pwm1_max", 1).value_or(255);
  if (strength && most > 0) now.fan_percent = std::min(100.0, 100 * *strength / most);
}

}  // namespace

Card card_in(const std::string& folder) {
  Card card;
  card.folder = folder;
  card.hwmon = hwmon_folder(folder, "amdgpu");
  card.sensor = hwmon_sensor(card.hwmon, "temp", "edge");
  // The largest ones have no sensor at the edge.
  if (card.sensor.empty()) card.sensor = hwmon_sensor(card.hwmon, "temp", "junction");
  card.memory_sensor = hwmon_sensor(card.hwmon, "temp", "mem");
  card.core_clock = hwmon_sensor(card.hwmon, "freq", "sclk");
  card.memory_clock = hwmon_sensor(card.hwmon, "freq", "mclk");
  const auto version = version_of(read_bytes(folder + "/gpu_metrics").value_or(""));
  card.is_apu =
      (version && version->format >= 2) ||
      !hwmon_sensor(card.hwmon, "in", "vddnb").empty();  // the voltage of its north bridge
  return card;
}

void read_limits(const Card& card, GpuDevice& into) {
  into.power_limit_watts = hwmon_value(card.hwmon, "power1_cap", kMicro);
  into.max_core_clock_hz = fastest_clock(read_text(card.folder + "/pp_dpm_sclk").value_or(""));
  into.max_memory_clock_hz = fastest_clock(read_text(card.folder + "/pp_dpm_mclk").value_or(""));
  into.slowdown_celsius = sensor_value(card, card.sensor, "_crit", kMilli);
  into.shutdown_celsius = sensor_value(card, card.sensor, "_emergency", kMilli);
}

void read_now(const Card& card, const Wanted& wanted, GpuDevice& into) {
  GpuReading& now = into.now;
  now.utilization_percent = percent_in(card.folder + "/gpu_busy_percent");
  now.memory_utilization_percent = percent_in(card.folder + "/mem_busy_percent");
  if (wanted.memory) read_memory(card, into);
  if (wanted.thermal) read_thermal(card, now);
  if (wanted.power) {
    now.power_watts = hwmon_value(card.hwmon, "power1_average", kMicro);
    if (!now.power_watts) now.power_watts = hwmon_value(card.hwmon, "power1_input", kMicro);
  }
  now.core_clock_hz = sensor_value(card, card.core_clock, "_input", 1);
  now.memory_clock_hz = sensor_value(card, card.memory_clock, "_input", 1);
  now.throttle = throttle_in(read_bytes(card.folder + "/gpu_metrics").value_or(""));
  const EccCounts ecc = parse_ecc(read_text(card.folder + "/ras/umc_err_count").value_or(""));
  now.ecc_corrected = ecc.corrected;
  now.ecc_uncorrected = ecc.uncorrected;
}

std::optional<double> fastest_clock(std::string_view list) {
  std::optional<double> fastest;
  while (!list.empty()) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    const std::size_t colon = line.find(": ");
    if (colon == line.npos || line.find("Mhz") == line.npos) continue;
    const std::optional<std::int64_t> mhz = parse_number(line.substr(colon + 2));
    if (mhz && *mhz > 0) fastest = std::max(fastest.value_or(0), static_cast<double>(*mhz) * kMhz);
  }
  return fastest;
}

// Bits that mean the same for every card since version 1.3 and 2.2: power from 0, current from 16,
// temperature from 32, an alarm from outside at 46 and 47.
std::optional<std::uint32_t> throttle_in(std::string_view gpu_metrics) {
  const std::optional<MetricsVersion> version = version_of(gpu_metrics);
  if (!version) return {};
  std::size_t place = 0;
  if (version->format == 1 && version->content == 3) place = 112;
  if (version->format == 2 && version->content >= 2 && version->content <= 4) place = 120;
  if (place == 0) return {};
  const auto bits = number_at<std::uint64_t>(gpu_metrics, place);
  if (!bits) return {};
  const auto between = [&](unsigned first, unsigned last) {
    return ((*bits >> first) & ((std::uint64_t{1} << (last - first + 1)) - 1)) != 0;
  };
  std::uint32_t reasons = 0;
  const auto add = [&](ThrottleReason reason) { reasons |= static_cast<std::uint32_t>(reason); };
  if (between(0, 31) || between(56, 56)) add(ThrottleReason::power_cap);
  if (between(32, 45)) add(ThrottleReason::hardware_thermal);
  if (between(46, 47) || between(57, 57)) add(ThrottleReason::hardware_slowdown);
  return reasons;
}

EccCounts parse_ecc(std::string_view text) {
  EccCounts counts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.size() < 5) continue;
    const std::optional<std::int64_t> count = parse_number(line.substr(4));
    if (!count || *count < 0) continue;
    if (line.starts_with("ue: ")) counts.uncorrected = static_cast<std::uint64_t>(*count);
    if (line.starts_with("ce: ")) counts.corrected = static_cast<std::uint64_t>(*count);
  }
  return counts;
}

}  // namespace fathom::devices::amd
