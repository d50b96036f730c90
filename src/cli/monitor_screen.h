#pragma once

#include <functional>

#include "cli/monitor_layout.h"

namespace fathom::cli {

// Shows scenes on the terminal, about once per interval and after each key, until the person quits
// or `is_over` says so. The terminal is as it was afterwards.
void show_on_terminal(const std::function<MonitorScene()>& scene,
                      const std::function<bool()>& is_over);

}  // namespace fathom::cli
