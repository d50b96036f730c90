#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace fathom::base {

// A word as a shell reads it back, for commands that people copy: quoted only where it must be.
inline std::string shell_word(std::string_view word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:,+@%=").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::any_of(word.begin(), word.end(), is_control)) {  // as no line break ends what is copied
    std::string escaped = "$'";
    for (const char c : word) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (is_control(byte)) {
        escaped += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      } else {
        escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
      }
    }
    return escaped + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace fathom::base
