#include "base/json_text.h"

namespace fathom::base {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto append_byte = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    append_byte(code);
  } else if (code < 0x800) {
    append_byte(0xC0 | code >> 6);
    append_byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    append_byte(0xE0 | code >> 12);
    append_byte(0x80 | (code >> 6 & 0x3F));
    append_byte(0x80 | (code & 0x3F));
  } else {
    append_byte(0xF0 | code >> 18);
    append_byte(0x80 | (code >> 12 & 0x3F));
    append_byte(0x80 | (code >> 6 & 0x3F));
    append_byte(0x80 | (code & 0x3F));
  }
}

// A \u escape at the start of `text`, with its second half where it has one; its length, or 0.
std::size_t unicode_escape(std::string_view text, std::string& out) {
  const auto first = hex4(text.substr(2));
  if (!first) return 0;
  if (*first < 0xD800 || *first > 0xDFFF) {
    append_utf8(out, *first);
    return 6;
  }
  if (*first > 0xDBFF || text.size() < 12 || text[6] != '\\' || text[7] != 'u') return 0;
  const auto second = hex4(text.substr(8));
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return 0;
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
  return 12;
}

}  // namespace

std::optional<std::uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const char lower = static_cast<char>(c | 0x20);
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (lower < 'a' || lower > 'f')) return std::nullopt;
    value = value * 16 + static_cast<std::uint32_t>(is_digit ? c - '0' : lower - 'a' + 10);
  }
  return value;
}

std::size_t unescape(std::string_view raw, std::string& out) {
  out.clear();
  std::size_t bad = 0;
  while (true) {
    const std::size_t plain = raw.find('\\');
    out.append(raw.substr(0, plain));
    if (plain == std::string_view::npos) return bad;
    raw.remove_prefix(plain);
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t simple = raw.size() < 2 ? std::string_view::npos : kLetters.find(raw[1]);
    if (simple != std::string_view::npos) {
      out += kMeanings[simple];
      raw.remove_prefix(2);
      continue;
    }
    const std::size_t length = raw.size() >= 2 && raw[1] == 'u' ? unicode_escape(raw, out) : 0;
    if (length == 0) {
      ++bad;
      out += '\\';
    }
    raw.remove_prefix(length == 0 ? 1 : length);
  }
}

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  while (at < text.size()) {
    const unsigned lead = byte(at);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(at + i) & 0xC0) != 0x80) return false;
    }
    // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
    const unsigned second = byte(at + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    at += length;
  }
  return true;
}

}  // namespace fathom::base
