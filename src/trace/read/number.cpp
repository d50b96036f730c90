#include "trace/read/number.h"

#include <charconv>
#include <cstring>
#include <functional>

namespace fathom::trace {
namespace {

using number::is_digit;

std::string_view trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// The general case: any number of digits, a fraction, an exponent.
struct Decimal {
  std::string_view whole, fraction;
  long exponent = 0;
  bool is_negative = false;
};

std::optional<Decimal> split(std::string_view text) {
  Decimal parts;
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(from, at - from);
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+'))
    parts.is_negative = text[at++] == '-';
  parts.whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    parts.fraction = digits();
  }
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool is_negative = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::string_view exponent = digits();
    if (exponent.empty()) return std::nullopt;
    // An exponent of more than six digits is no different from one of six: 0 or too large.
    for (const char c : exponent) {
      if (parts.exponent < 100'000) parts.exponent = parts.exponent * 10 + (c - '0');
    }
    if (is_negative) parts.exponent = -parts.exponent;
  }
  if (at != text.size()) return std::nullopt;
  return parts;
}

}  // namespace

std::optional<std::int64_t> parse_scaled(std::string_view text, int digits) {
  const std::optional<Decimal> parts = split(trim(text));
  if (!parts) return std::nullopt;
  // Digits before this position make the result; the one there decides on rounding.
  const auto whole_size = static_cast<long>(parts->whole.size());
  const auto all = whole_size + static_cast<long>(parts->fraction.size());
  const long kept = whole_size + parts->exponent + digits;
  const auto digit_at = [&](long i) -> unsigned {
    if (i < 0 || i >= all) return 0;
    const char c = i < whole_size ? parts->whole[i] : parts->fraction[i - whole_size];
    return static_cast<unsigned>(c - '0');
  };
  std::uint64_t value = 0;
  for (long i = 0; i < kept; ++i) {
    if (i >= all && value == 0) break;
    if (value > static_cast<std::uint64_t>(INT64_MAX) / 10) return std::nullopt;
    value = value * 10 + digit_at(i);
  }
  if (kept >= 0 && digit_at(kept) >= 5) ++value;
  if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value);
  return parts->is_negative ? -magnitude : magnitude;
}

bool number::read_any_time_ns(std::string_view microseconds, std::int64_t& ns) {
  const std::optional<std::int64_t> exact = parse_scaled(microseconds, 3);
  if (!exact || *exact > kMaxTime || *exact < -kMaxTime) return false;
  ns = *exact;
  return true;
}

bool number::read_any_integer(std::string_view text, std::int64_t& value) {
  const std::optional<std::int64_t> exact = parse_scaled(text, 0);
  if (exact) value = *exact;
  return exact.has_value();
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  text = trim(text);
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stop == text.data() + text.size()) return value;
  return std::nullopt;
}

std::uint64_t parse_id(std::string_view text) {
  text = trim(text);
  if (const auto value = parse_unsigned(text)) return *value;
  if (const auto value = parse_integer(text)) return static_cast<std::uint64_t>(*value);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t value = 0;
    const auto [stop, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error == std::errc() && stop == text.data() + text.size()) return value;
  }
  return std::hash<std::string_view>{}(text);
}

}  // namespace fathom::trace
