#pragma once

#include <string>
#include <vector>

#include "cli/files.h"

namespace fathom::cli {

struct RecordedSides {
  std::vector<std::string> base;  // files
  std::vector<std::string> current;
};

// Runs both of two commands, with ":::" between them in `words`, in turn and so many times each, so
// that what changes over time changes for both; records them to files of free names, and says
// which. A program that cannot be started or fails is base::Error.
RecordedSides record_in_turn(const std::vector<std::string>& words, int repeat, Files& files);

}  // namespace fathom::cli
