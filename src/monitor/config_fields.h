#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "devices/watcher.h"
#include "fathom/monitor.h"

// The settings of fathom.yaml: which there are, and what each may be. The YAML file, session files
// and the documentation go by this list.
namespace fathom::monitor {

struct ConfigField {
  using Member = std::variant<MonitorMode MonitorConfig::*, MonitorLevel MonitorConfig::*,
                              double MonitorConfig::*, bool MonitorConfig::*,
                              std::size_t MonitorConfig::*, std::string MonitorConfig::*>;
  std::string_view name;
  Member member;
  double least = 0;  // of a number
  double most = 0;
  bool is_of_session = false;  // a session may have it different from its monitor
};

std::span<const ConfigField> config_fields();

// Sets a field from its text ("standard", "2.5", "true"). Returns what is wrong with it, or
// nothing: "must be a number from 0.01 to 3600".
std::string set_field(MonitorConfig& config, const ConfigField& field, const std::string& text);

std::string_view name_of(MonitorMode mode);
std::string_view name_of(MonitorLevel level);

// A setting as somebody wrote it.
struct Setting {
  const ConfigField* field = nullptr;
  std::string text;
  std::string name;  // what the setting is called there, for messages
};

// Sets all of them. An interval that is named is meant as it is: without a level beside it, the
// level becomes medium. Throws base::Error with the name of the one that is wrong.
void apply_settings(MonitorConfig& config, std::span<const Setting> settings);

// What is wrong with the settings of a program: a number out of its range, a warning above its
// critical limit. Empty where all is well.
std::string problem_of(const MonitorConfig& config);

// Between samples: at level low twice the interval, at high a half, at maximum a tenth of it.
std::chrono::nanoseconds sampling_interval(const MonitorConfig& config);

// A reading that is older tells nothing of now: its driver hangs. `interval` is that between
// samples.
double stale_after_seconds(std::chrono::nanoseconds interval);

// What the devices are asked for, and how often.
devices::WatcherOptions watcher_options(const MonitorConfig& config);

}  // namespace fathom::monitor
