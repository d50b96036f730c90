#include "devices/nvidia_smi_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "devices/nvml_reading.h"

namespace fathom::devices::smi {
namespace {

constexpr double kBytesPerMib = 1 << 20;
constexpr double kSmiMhz = 1e6;
constexpr double kMostNumber = 1e15;  // of a sane value

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]" and whatever else it says in brackets.
std::string_view known(std::string_view value) {
  value = stripped(value);
  return value.starts_with('[') || value == "N/A" ? std::string_view() : value;
}

std::optional<double> number(std::string_view value) {
  value = known(value);
  double read = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (problem != std::errc{} || end != value.data() + value.size()) return {};
  if (!std::isfinite(read) || read < 0 || read > kMostNumber) return {};
  return read;
}

std::optional<double> number(std::string_view value, double unit) {
  const std::optional<double> read = number(value);
  if (!read) return {};
  return *read * unit;
}

std::optional<double> share(std::string_view value) {
  const std::optional<double> read = number(value);
  return read && *read <= 100 ? read : std::nullopt;
}

std::optional<std::int64_t> mebibytes(std::string_view value) {
  const std::optional<double> bytes = number(value, kBytesPerMib);
  if (!bytes) return {};
  return static_cast<std::int64_t>(*bytes);
}

std::optional<std::uint64_t> count(std::string_view value) {
  const std::optional<double> read = number(value);
  if (!read) return {};
  return static_cast<std::uint64_t>(*read);
}

std::optional<std::uint64_t> hexadecimal(std::string_view value) {
  value = known(value);
  if (!value.starts_with("0x")) return {};
  value.remove_prefix(2);
  std::uint64_t read = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), read, 16);
  if (problem != std::errc{} || end != value.data() + value.size()) return {};
  return read;
}

// Its complaints stand among the rows.
std::string_view uuid_in(std::string_view value) {
  value = known(value);
  return value.starts_with("GPU-") || value.starts_with("MIG-") ? value : std::string_view();
}

// "00000000:3B:00.0" is "0000:3b:00.0" to the kernel.
std::string kernel_form(std::string_view address) {
  std::string text(known(address));
  constexpr std::size_t kLong = 16;
  if (text.size() != kLong || text.find_first_not_of("0123456789ABCDEFabcdef:.") != text.npos) {
    return {};
  }
  if (text[8] != ':' || text[11] != ':' || text[14] != '.') return {};
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.substr(4);
}

struct Field {
  const char* name;
  const char* older_name;  // of the same; null where it has one name
  bool is_old;             // known by every version
  void (*set)(GpuDevice& gpu, std::string_view value);
};

constexpr std::array<Field, 24> kFields = {{
    {"uuid", "gpu_uuid", true, [](GpuDevice& g, std::string_view v) { g.uuid = uuid_in(v); }},
    {"pci.bus_id", "gpu_bus_id", true,
     [](GpuDevice& g, std::string_view v) { g.pci_address = kernel_form(v); }},
    {"name", "gpu_name", true, [](GpuDevice& g, std::string_view v) { g.name = known(v); }},
    {"driver_version", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.driver = known(v); }},
    {"memory.total", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.memory_total_bytes = mebibytes(v); }},
    {"memory.used", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.memory_used_bytes = mebibytes(v); }},
    {"memory.free", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.memory_free_bytes = mebibytes(v); }},
    {"memory.reserved", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.memory_reserved_bytes = mebibytes(v); }},
    {"utilization.gpu", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.utilization_percent = share(v); }},
    {"utilization.memory", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.memory_utilization_percent = share(v); }},
    {"utilization.encoder", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.encoder_percent = share(v); }},
    {"utilization.decoder", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.decoder_percent = share(v); }},
    {"temperature.gpu", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.temperature_celsius = number(v); }},
    {"temperature.memory", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.memory_temperature_celsius = number(v); }},
    {"power.draw", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.power_watts = number(v); }},
    {"enforced.power.limit", "power.limit", false,
     [](GpuDevice& g, std::string_view v) { g.power_limit_watts = number(v); }},
    {"clocks.sm", "clocks.current.sm", false,
     [](GpuDevice& g, std::string_view v) { g.now.core_clock_hz = number(v, kSmiMhz); }},
    {"clocks.mem", "clocks.current.memory", false,
     [](GpuDevice& g, std::string_view v) { g.now.memory_clock_hz = number(v, kSmiMhz); }},
    {"clocks.max.sm", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.max_core_clock_hz = number(v, kSmiMhz); }},
    {"clocks.max.memory", "clocks.max.mem", false,
     [](GpuDevice& g, std::string_view v) { g.max_memory_clock_hz = number(v, kSmiMhz); }},
    {"fan.speed", nullptr, true,
     [](GpuDevice& g, std::string_view v) { g.now.fan_percent = number(v); }},
    {"clocks_event_reasons.active", "clocks_throttle_reasons.active", false,
     [](GpuDevice& g, std::string_view v) {
       const std::optional<std::uint64_t> bits = hexadecimal(v);
       if (bits) g.now.throttle = nvml::throttle_reasons(*bits);
     }},
    {"ecc.errors.corrected.volatile.total", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.ecc_corrected = count(v); }},
    {"ecc.errors.uncorrected.volatile.total", nullptr, false,
     [](GpuDevice& g, std::string_view v) { g.now.ecc_uncorrected = count(v); }},
}};

// The values of one row. The last one of all may have been cut in the middle.
std::vector<std::string_view> values_in(std::string_view row, bool is_cut) {
  std::vector<std::string_view> values;
  while (true) {
    const std::size_t comma = row.find(',');
    values.push_back(stripped(row.substr(0, comma)));
    if (comma == row.npos) break;
    row.remove_prefix(comma + 1);
  }
  if (is_cut) values.pop_back();
  return values;
}

template <typename Use>
void for_each_row(std::string_view csv, const Use& use) {
  while (!csv.empty()) {
    const std::size_t end = csv.find('\n');
    const std::string_view row = csv.substr(0, end);
    if (!stripped(row).empty()) use(values_in(row, end == csv.npos));
    csv.remove_prefix(end == csv.npos ? csv.size() : end + 1);
  }
}

}  // namespace

std::vector<std::string> fields_to_ask(std::string_view help) {
  const auto is_listed = [&](const char* name) {
    return name != nullptr && help.find('"' + std::string(name) + '"') != help.npos;
  };
  std::vector<std::string> names;
  for (const Field& field : kFields) {
    if (is_listed(field.name))
      names.emplace_back(field.name);
    else if (is_listed(field.older_name))
      names.emplace_back(field.older_name);
  }
  if (!names.empty()) return names;
  for (const Field& field : kFields) {
    if (field.is_old) names.emplace_back(field.name);
  }
  return names;
}

std::vector<GpuDevice> parse_gpus(std::string_view csv, const std::vector<std::string>& fields) {
  std::vector<GpuDevice> gpus;
  for_each_row(csv, [&](const std::vector<std::string_view>& values) {
    if (values.size() > fields.size()) return;
    GpuDevice gpu{.vendor = "NVIDIA", .type = "gpu", .backend = "nvidia-smi"};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto field = std::ranges::find_if(kFields, [&](const Field& each) {
        return fields[i] == each.name ||
               (each.older_name != nullptr && fields[i] == each.older_name);
      });
      if (field != kFields.end()) field->set(gpu, values[i]);
    }
    if (gpu.uuid.empty() && !gpu.pci_address.empty()) gpu.uuid = "pci-" + gpu.pci_address;
    if (gpu.uuid.empty()) return;
    if (gpu.name.empty()) gpu.name = "NVIDIA GPU";
    gpu.index = static_cast<unsigned>(gpus.size());
    gpus.push_back(std::move(gpu));
  });
  return gpus;
}

std::vector<std::pair<std::string, GpuProcess>> parse_programs(std::string_view csv) {
  std::vector<std::pair<std::string, GpuProcess>> programs;
  for_each_row(csv, [&](const std::vector<std::string_view>& values) {
    if (values.size() < 2 || values.size() > 3) return;
    const std::string_view uuid = uuid_in(values[0]);
    const std::optional<double> pid = number(values[1]);
    if (uuid.empty() || !pid || *pid < 1 || *pid > 1e9 || std::floor(*pid) != *pid) return;
    GpuProcess process{.pid = static_cast<std::int64_t>(*pid)};
    if (values.size() == 3) process.memory_bytes = mebibytes(values[2]);
    programs.emplace_back(uuid, process);
  });
  return programs;
}

}  // namespace fathom::devices::smi
