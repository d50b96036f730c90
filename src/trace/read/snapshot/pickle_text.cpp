#include "trace/read/snapshot/pickle_text.h"

#include <charconv>

namespace fathom::trace {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto continued = [&](unsigned shift) {
    out += static_cast<char>(0x80 | (code >> shift & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    continued(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    continued(6);
    continued(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18 & 0x07));
    continued(12);
    continued(6);
    continued(0);
  }
}

// The number of exactly `digits` hexadecimal digits at the front.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t digits) {
  std::uint32_t value = 0;
  if (text.size() < digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  return value;
}

char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return c;
  }
}

}  // namespace

std::optional<std::string> decode_python_literal(std::string_view text) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0]) {
    return std::nullopt;
  }
  text = text.substr(1, text.size() - 2);
  std::string out;
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c != '\\' || text.empty()) {
      out += c;
      continue;
    }
    const char escaped = text[0];
    text.remove_prefix(1);
    const auto byte = escaped == 'x' ? hexadecimal(text, 2) : std::nullopt;
    if (byte) text.remove_prefix(2);
    out += byte ? static_cast<char>(*byte) : simple_escape(escaped);
  }
  return out;
}

std::string decode_raw_unicode(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::optional<std::uint32_t> code;
    std::size_t size = 1;
    if (text.starts_with("\\u")) {
      code = hexadecimal(text.substr(2), 4);
      size = 6;
    } else if (text.starts_with("\\U")) {
      code = hexadecimal(text.substr(2), 8);
      size = 10;
    }
    if (!code) size = 1;
    append_utf8(out, code ? *code : static_cast<unsigned char>(text[0]));
    text.remove_prefix(size);
  }
  return out;
}

std::optional<std::int64_t> decode_long(std::string_view bytes) {
  if (bytes.size() > sizeof(std::int64_t)) return std::nullopt;
  const bool is_negative = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0;
  std::uint64_t value = is_negative ? UINT64_MAX : 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> decode_decimal(std::string_view text) {
  if (text.ends_with('L')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace fathom::trace
