#include "trace/decimal.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "trace/json_scan.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int64_t> scale_real(std::string_view text, int places) {
  const auto number = real_of(text);
  if (!number) return std::nullopt;
  const double scaled = std::round(*number * std::pow(10.0, places));
  if (!(std::abs(scaled) < static_cast<double>(kLimit))) return std::nullopt;
  return static_cast<std::int64_t>(scaled);
}

}  // namespace

std::optional<std::int64_t> parse_scaled(std::string_view text, int places) {
  if (text.find_first_of("eE") != std::string_view::npos) return scale_real(text, places);
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::uint64_t number = 0;
  int left = places;
  bool is_fraction = false;
  bool rounds_up = false;
  for (const char c : text) {
    if (c == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    if (is_fraction && left <= 0) {
      if (left-- == 0) rounds_up = c >= '5';
      continue;
    }
    if (is_fraction) --left;
    if (number > kLimit / 10) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  for (; left > 0; --left) {
    if (number > kLimit / 10) return std::nullopt;
    number *= 10;
  }
  number += rounds_up ? 1 : 0;
  if (number >= kLimit) return std::nullopt;
  return is_negative ? -static_cast<std::int64_t>(number) : static_cast<std::int64_t>(number);
}

void append_scaled(std::string& out, std::int64_t number, int places) {
  std::uint64_t scale = 1;
  for (int i = 0; i < places; ++i) scale *= 10;
  const auto bits = static_cast<std::uint64_t>(number);
  const std::uint64_t size = number < 0 ? 0 - bits : bits;
  if (number < 0) out += '-';
  fmt::format_to(std::back_inserter(out), "{}", size / scale);
  if (size % scale == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:0{}}", size % scale, places);
  while (out.back() == '0') out.pop_back();
}

}  // namespace fathom::trace
