#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace fathom::base {

bool is_terminal(std::FILE* stream);

// Columns of the terminal on `stream`. Where it is not one, COLUMNS if that is 60 to 400, else 100,
// so that a pipe gets stable output.
std::size_t terminal_width(std::FILE* stream);

// Bold or dim text where `stream` is a terminal and NO_COLOR is not set, else the text as it is.
std::string bold(std::string_view text, std::FILE* stream);
std::string dim(std::string_view text, std::FILE* stream);

}  // namespace fathom::base
