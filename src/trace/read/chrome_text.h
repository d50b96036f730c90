#pragma once

#include <string>
#include <string_view>

namespace fathom::trace {

// What stands between the quotes of a JSON string → the text it means. An escape that is none
// (\c, \x, \u + non-hex, half a surrogate pair) stays as it is written; returns how many there
// were.
std::size_t unescape(std::string_view raw, std::string& out);

bool is_utf8(std::string_view text);

}  // namespace fathom::trace
