#pragma once

#include <string>
#include <string_view>

namespace fathom::cli {

// Writes text to a file and says so, or to standard output where no file is named.
void put(std::string_view text, const std::string& path);

}  // namespace fathom::cli
