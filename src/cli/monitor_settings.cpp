#include "cli/monitor_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "monitor/config_fields.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNotesWidth = 100;
constexpr std::string_view kIntervalSetting =
    "monitoring_interval_seconds";  // has a short name, too

// "monitoring_interval_seconds" → "--monitoring-interval-seconds"
std::string option_name(const monitor::ConfigField& field) {
  std::string name = "--" + std::string(field.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  std::size_t column = kNotesWidth;
  for (const std::string& name : names) {
    const bool is_first = text.empty();
    if (column + name.size() + 2 > kNotesWidth) {
      text += is_first ? "  " : ",\n  ";
      column = 2;
    } else {
      text += ", ";
      column += 2;
    }
    text += name;
    column += name.size();
  }
  return text;
}

}  // namespace

void add_settings(Command& command, MonitorSettings& settings) {
  command.option("--config", &settings.file, "Settings: a fathom.yaml");
  command.option("--demo", &settings.demo, "Two GPUs that do not exist, to look at");
  const auto fields = monitor::config_fields();
  settings.texts.resize(fields.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == "demo") continue;
    const auto add = [&](const std::string& name) {
      command.options.push_back(
          {.names = name, .target = &settings.texts[i], .what = {}, .type = "VALUE"});
    };
    names.push_back(option_name(fields[i]));
    if (fields[i].name == kIntervalSetting) {
      add("--interval");
      command.options.back().what =
          fmt::format("Seconds between samples, {} to {} (default {})", fields[i].least,
                      fields[i].most, MonitorConfig().monitoring_interval_seconds);
      command.options.back().type = "N";
      command.only_one_of = {"--interval", names.back()};
    }
    add(names.back());
    command.options.back().is_listed = false;
  }
  command.notes = fmt::format(
      "Every setting of fathom.yaml (section gpu_profiler, docs/monitoring.md) is an option, "
      "too, "
      "which\ncounts more than the file:\n{}\n{}",
      list_of(names), command.notes);
}

MonitorConfig config_of(const MonitorSettings& settings, Files& files) {
  MonitorConfig config;
  if (!settings.file.empty()) config = read_monitor_config(files.name_to_open(settings.file));
  std::vector<monitor::Setting> named;
  for (std::size_t i = 0; i < settings.texts.size(); ++i) {
    const monitor::ConfigField& field = monitor::config_fields()[i];
    if (!settings.texts[i].empty())
      named.push_back({&field, settings.texts[i], option_name(field)});
  }
  monitor::apply_settings(config, named);
  if (settings.demo) config.demo = true;
  const std::string problem = monitor::problem_of(config);
  if (!problem.empty()) throw base::Error("settings", problem);
  return config;
}

}  // namespace fathom::cli
