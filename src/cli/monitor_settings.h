#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "fathom/monitor.h"

// The settings of a monitor on the command line: --config, --demo, and an option per setting of
// fathom.yaml (monitor/config_fields.h), which counts more than the file.
namespace fathom::cli {

struct MonitorSettings {
  std::string file;
  bool demo = false;
  std::vector<std::string> texts = {};  // by config_fields(); empty where it was not named
};

// The options read into `settings`, which must stay where it is. Adds to the notes that they exist.
void add_settings(Command& command, MonitorSettings& settings);

// Throws base::Error.
MonitorConfig config_of(const MonitorSettings& settings, Files& files);

}  // namespace fathom::cli
