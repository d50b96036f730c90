#pragma once

#include <string>
#include <vector>

#include "cli/files.h"

namespace fathom::cli {

// Adds to the machine's profile what recorded runs of the runtime library measured.
void learn_from_runs(const std::vector<std::string>& runs, const std::string& path, Files& files);

}  // namespace fathom::cli
