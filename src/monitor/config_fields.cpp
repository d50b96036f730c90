#include "monitor/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/error.h"

namespace fathom::monitor {
namespace {

using C = MonitorConfig;
constexpr double kDay = 86'400;
constexpr double kShortestInterval = 0.01;

constexpr bool kOfSession = true;

constexpr std::array kConfigFields = {
    ConfigField{"mode", &C::mode, 0, 0, kOfSession},
    ConfigField{"level", &C::level, 0, 0, kOfSession},
    ConfigField{"monitoring_interval_seconds", &C::monitoring_interval_seconds, kShortestInterval,
                3600, kOfSession},
    ConfigField{"metrics_update_interval_seconds", &C::metrics_update_interval_seconds,
                kShortestInterval, kDay},
    ConfigField{"device_discovery_interval_seconds", &C::device_discovery_interval_seconds, 0.1,
                kDay},
    ConfigField{"enable_cuda_profiling", &C::enable_cuda_profiling},
    ConfigField{"enable_opencl_profiling", &C::enable_opencl_profiling},
    ConfigField{"enable_thermal_monitoring", &C::enable_thermal_monitoring, 0, 0, kOfSession},
    ConfigField{"enable_power_monitoring", &C::enable_power_monitoring, 0, 0, kOfSession},
    ConfigField{"enable_memory_tracking", &C::enable_memory_tracking, 0, 0, kOfSession},
    ConfigField{"temperature_warning_celsius", &C::temperature_warning_celsius, 0, 200, kOfSession},
    ConfigField{"temperature_critical_celsius", &C::temperature_critical_celsius, 0, 200,
                kOfSession},
    ConfigField{"memory_warning_percent", &C::memory_warning_percent, 0, 100, kOfSession},
    ConfigField{"memory_critical_percent", &C::memory_critical_percent, 0, 100, kOfSession},
    ConfigField{"utilization_warning_percent", &C::utilization_warning_percent, 0, 100, kOfSession},
    ConfigField{"max_snapshots", &C::max_snapshots, 1, 1e6, kOfSession},
    ConfigField{"max_profiling_sessions", &C::max_profiling_sessions, 1, 1e4},
    ConfigField{"output_dir", &C::output_dir},
    ConfigField{"export_json_reports", &C::export_json_reports, 0, 0, kOfSession},
    ConfigField{"demo", &C::demo},
};

constexpr std::array<std::string_view, 4> kModeNames = {"basic", "standard", "detailed",
                                                        "comprehensive"};
constexpr std::array<std::string_view, 4> kLevelNames = {"low", "medium", "high", "maximum"};

template <typename Enum>
std::string set_choice(Enum& into, const std::array<std::string_view, 4>& names,
                       const std::string& text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return fmt::format("must be one of {}", fmt::join(names, ", "));
  into = static_cast<Enum>(found - names.begin());
  return {};
}

bool is_in_range(const ConfigField& field, double number) {
  return number >= field.least && number <= field.most;  // NaN is not
}

std::string set_number(double& into, const ConfigField& field, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end || !is_in_range(field, number)) {
    return fmt::format("must be a number from {} to {}", field.least, field.most);
  }
  into = number;
  return {};
}

// What is wrong with a value, by the type of its member.
struct Setter {
  MonitorConfig& config;
  const ConfigField& field;
  const std::string& text;

  std::string operator()(MonitorMode C::*member) const {
    return set_choice(config.*member, kModeNames, text);
  }
  std::string operator()(MonitorLevel C::*member) const {
    return set_choice(config.*member, kLevelNames, text);
  }
  std::string operator()(double C::*member) const {
    return set_number(config.*member, field, text);
  }
  std::string operator()(std::size_t C::*member) const {
    double number = 0;
    const std::string problem = set_number(number, field, text);
    if (!problem.empty() || number != std::floor(number)) {
      return fmt::format("must be a whole number from {:.0f} to {:.0f}", field.least, field.most);
    }
    config.*member = static_cast<std::size_t>(number);
    return {};
  }
  std::string operator()(bool C::*member) const {
    if (text != "true" && text != "false") return "must be true or false";
    config.*member = text == "true";
    return {};
  }
  std::string operator()(std::string C::*member) const {
    if (text.empty()) return "must not be empty";
    config.*member = text;
    return {};
  }
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(seconds * 1e3)));
}

}  // namespace

std::span<const ConfigField> config_fields() {
  return kConfigFields;
}

std::string set_field(MonitorConfig& config, const ConfigField& field, const std::string& text) {
  return std::visit(Setter{config, field, text}, field.member);
}

std::string_view name_of(MonitorMode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

std::string_view name_of(MonitorLevel level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

void apply_settings(MonitorConfig& config, std::span<const Setting> settings) {
  bool has_level = false;
  bool has_interval = false;
  for (const Setting& setting : settings) {
    const std::string problem = set_field(config, *setting.field, setting.text);
    if (!problem.empty()) {
      throw base::Error(setting.name, fmt::format("{}, not '{}'", problem, setting.text));
    }
    has_level |= setting.field->name == "level";
    has_interval |= setting.field->name == "monitoring_interval_seconds";
  }
  if (has_interval && !has_level) config.level = MonitorLevel::medium;
}

std::string problem_of(const MonitorConfig& config) {
  for (const ConfigField& field : kConfigFields) {
    const bool is_right = std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(config.*member)>;
          if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::size_t>) {
            return is_in_range(field, static_cast<double>(config.*member));
          }
          return true;
        },
        field.member);
    if (!is_right) {
      return fmt::format("{} must be from {} to {}", field.name, field.least, field.most);
    }
  }
  if (config.temperature_warning_celsius > config.temperature_critical_celsius) {
    return fmt::format(
        "temperature_warning_celsius ({}) must not be above temperature_critical_celsius ({})",
        config.temperature_warning_celsius, config.temperature_critical_celsius);
  }
  if (config.memory_warning_percent > config.memory_critical_percent) {
    return fmt::format("memory_warning_percent ({}) must not be above memory_critical_percent ({})",
                       config.memory_warning_percent, config.memory_critical_percent);
  }
  return {};
}

std::chrono::nanoseconds sampling_interval(const MonitorConfig& config) {
  double factor = 1;
  if (config.level == MonitorLevel::low) factor = 2;
  if (config.level == MonitorLevel::high) factor = 0.5;
  if (config.level == MonitorLevel::maximum) factor = 0.1;
  const double seconds = std::max(kShortestInterval, config.monitoring_interval_seconds * factor);
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

double stale_after_seconds(std::chrono::nanoseconds interval) {
  constexpr double kLeastStaleSeconds = 10;  // nvidia-smi, for one, may take seconds
  constexpr double kStaleIntervals = 5;
  return std::max(kLeastStaleSeconds,
                  kStaleIntervals * std::chrono::duration<double>(interval).count());
}

devices::WatcherOptions watcher_options(const MonitorConfig& config) {
  devices::WatcherOptions options;
  options.wanted = {.processes = config.mode != MonitorMode::basic,
                    .thermal = config.enable_thermal_monitoring,
                    .power = config.enable_power_monitoring,
                    .memory = config.enable_memory_tracking};
  options.interval =
      std::chrono::duration_cast<std::chrono::milliseconds>(sampling_interval(config));
  options.process_interval = config.mode == MonitorMode::standard
                                 ? milliseconds(config.metrics_update_interval_seconds)
                                 : options.interval;
  options.discovery_interval = milliseconds(config.device_discovery_interval_seconds);
  return options;
}

}  // namespace fathom::monitor
