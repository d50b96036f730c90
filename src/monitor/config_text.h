#pragma once

#include <string>

#include "fathom/monitor.h"

namespace fathom::monitor {

// The settings in the text of a YAML file; `name` is for messages. Throws base::Error.
MonitorConfig parse_config(const std::string& text, const std::string& name);

}  // namespace fathom::monitor
