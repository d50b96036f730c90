#pragma once

#include <string>

namespace fathom::cli {

// Writes text to a file, whole or not at all, and says so on standard error; to standard output
// where no file is named.
void put(std::string text, const std::string& path);

}  // namespace fathom::cli
