#pragma once

#include <string>
#include <vector>

#include "record/launch/launch.h"

namespace fathom::record {

// What the launcher itself knows of a run, as a Perfetto trace: the command, how it ended, and the
// host memory over time.
std::string run_trace(const std::vector<std::string>& command, const Launched& launched);

}  // namespace fathom::record
