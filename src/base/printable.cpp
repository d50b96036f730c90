#include "base/printable.h"

#include "base/json_writer.h"

namespace fathom::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_plain_ascii(char c) {
  return c >= 0x20 && c < 0x7F;
}

// `kept` are the control characters that stay.
std::string cleaned(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain_ascii(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    const char first = text[0];
    if (kept.find(first) != std::string_view::npos) {
      out += first;
    } else if (first == '\n' || first == '\t') {
      out += ' ';
    } else if (length == 0 || acts_on_a_terminal(code_point(text, length))) {
      out += kReplacement;
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace

bool acts_on_a_terminal(char32_t code_point) {
  const auto within = [&](char32_t first, char32_t last) {
    return code_point >= first && code_point <= last;
  };
  return code_point < 0x20 || within(0x7F, 0x9F) || code_point == 0x061C ||
         within(0x200E, 0x200F) || within(0x2028, 0x202E) || within(0x2066, 0x2069);
}

char32_t code_point(std::string_view text, std::size_t length) {
  const auto lead = static_cast<unsigned char>(text[0]);
  char32_t found = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    found = (found << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return found;
}

std::string printable(std::string_view text) {
  return cleaned(text, {});
}

void say(std::FILE* stream, std::string_view text) {
  const std::string clean = cleaned(text, "\n\t");
  std::fwrite(clean.data(), 1, clean.size(), stream);
}

}  // namespace fathom::base
