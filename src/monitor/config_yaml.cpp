#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "monitor/config_fields.h"
#include "monitor/config_text.h"

// fathom.yaml. The one file that knows yaml-cpp.
namespace fathom::monitor {
namespace {

constexpr const char* kSection = "gpu_profiler";
constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kDeepest = 64;  // yaml-cpp recurses; nothing of ours is deeper than two

std::string place_of(const std::string& name, const YAML::Mark& mark) {
  return mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
}

// How many letters must be added, dropped or changed.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string hint_for(const std::string& key) {
  constexpr std::size_t kLongestKey = 64;
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 3) + 1;
  for (const ConfigField& field : config_fields()) {
    const std::size_t away = key.size() > kLongestKey ? key.size() : distance(key, field.name);
    if (away >= least) continue;
    least = away;
    nearest = field.name;
  }
  return nearest.empty() ? "docs/monitoring.md lists the settings"
                         : fmt::format("Did you mean '{}'?", nearest);
}

// Brackets and indents that would make the parser recurse deeper than a stack allows.
bool is_too_deep(const std::string& text) {
  int depth = 0;
  std::size_t indent = 0;
  bool is_at_start = true;
  for (const char c : text) {
    if (c == '\n') {
      is_at_start = true;
      indent = 0;
      continue;
    }
    // "- - - -" nests as deeply as it is long.
    if (is_at_start && (c == ' ' || c == '-' || c == '?' || c == '\t' || c == ':'))
      ++indent;
    else
      is_at_start = false;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') depth = std::max(0, depth - 1);
    if (depth > kDeepest || indent > 4 * kDeepest) return true;
  }
  return false;
}

}  // namespace

MonitorConfig parse_config(const std::string& text, const std::string& name) {
  MonitorConfig config;
  if (text.size() > kMostBytes) throw base::Error(name, "is too large for a settings file");
  if (is_too_deep(text)) throw base::Error(name, "is nested too deeply for a settings file");
  YAML::Node document;
  try {
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw base::Error(place_of(name, error.mark), "invalid YAML: " + error.msg);
  }
  if (document.IsNull()) return config;
  if (!document.IsMap()) {
    throw base::Error(name, fmt::format("must be a map with the section '{}'", kSection));
  }
  const YAML::Node section = document[kSection];
  if (!section.IsDefined() || section.IsNull()) return config;
  if (!section.IsMap()) {
    throw base::Error(place_of(name, section.Mark()),
                      fmt::format("{}: must be a map of settings", kSection));
  }
  std::vector<std::string> seen;
  for (const auto& entry : section) {
    const std::string where = place_of(name, entry.first.Mark());
    if (!entry.first.IsScalar()) throw base::Error(where, "a setting's name must be a word");
    const std::string key = entry.first.Scalar();
    const auto field = std::ranges::find(config_fields(), key, &ConfigField::name);
    if (field == config_fields().end()) {
      throw base::Error(where, fmt::format("{}: unknown setting '{}'", kSection, key),
                        hint_for(key));
    }
    if (std::ranges::find(seen, key) != seen.end()) {
      throw base::Error(where, fmt::format("{}.{}: is set twice", kSection, key));
    }
    seen.push_back(key);
    const std::string value = entry.second.IsScalar() ? entry.second.Scalar() : std::string();
    const std::string problem = entry.second.IsScalar() ? set_field(config, *field, value)
                                                        : std::string("must be a single value");
    if (!problem.empty()) {
      const std::string shown = entry.second.IsScalar() ? fmt::format(", not '{}'", value) : "";
      throw base::Error(place_of(name, entry.second.Mark()),
                        fmt::format("{}.{}: {}{}", kSection, key, problem, shown));
    }
  }
  const std::string problem = problem_of(config);
  if (!problem.empty()) throw base::Error(place_of(name, section.Mark()), problem);
  return config;
}

}  // namespace fathom::monitor

namespace fathom {

MonitorConfig read_monitor_config(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw base::Error(path, "is a directory", "Name the file with the settings");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::Error(path, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(monitor::kMostBytes + 1, '\0');  // one more: then it is refused
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return monitor::parse_config(text, path);
}

}  // namespace fathom
