#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::base {

// What stands between the quotes of a JSON string → the text it means. An escape that is none
// (\c, \x, \u + non-hex, half a surrogate pair) stays as it is written; returns how many there
// were.
std::size_t unescape(std::string_view raw, std::string& out);

// The number that four hexadecimal digits at the start of `text` are.
std::optional<std::uint32_t> hex4(std::string_view text);

bool is_utf8(std::string_view text);

constexpr bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace fathom::base
