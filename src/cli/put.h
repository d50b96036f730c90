#pragma once

#include <string>
#include <string_view>

namespace fathom::cli {

// Writes text to a file, whole or not at all and never over an input, and says so on standard
// error; to standard output where no file is named.
void put(std::string text, const std::string& path);

// The same for what `--json` writes. The word after `--json` may be meant as input: a file that is
// there and begins otherwise is not overwritten.
void put_json(std::string text, const std::string& path);

// Whether there is a file of this name that does not begin like this.
bool is_something_else(const std::string& path, std::string_view begin);

}  // namespace fathom::cli
