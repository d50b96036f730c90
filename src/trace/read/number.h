#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace fathom::trace {

// Decimal text → whole number of 10^-digits, exactly; what is beyond is rounded half up. Takes a
// sign, a fraction and an exponent; nullopt for what is not a number or does not fit.
std::optional<std::int64_t> parse_scaled(std::string_view text, int digits);

inline constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;

namespace number {

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

// True if the 8 characters in `word` are digits: each has 3 in its upper half, and still has when 6
// is added.
inline bool is_eight_digits(std::uint64_t word) {
  return ((word & 0xF0F0F0F0F0F0F0F0U) |
          (((word + 0x0606060606060606U) & 0xF0F0F0F0F0F0F0F0U) >> 4)) == 0x3333333333333333U;
}

// Eight digits at once: neighbours are joined to pairs, pairs to fours, fours to eight.
inline std::uint64_t value_of_eight(std::uint64_t word) {
  word -= 0x3030303030303030U;
  word = word * 10 + (word >> 8);
  return ((word & 0x000000FF000000FFU) * 0x000F424000000064U +
          (word >> 16 & 0x000000FF000000FFU) * 0x0000271000000001U) >>
         32;
}

// Reads up to 18 digits from `at` on, and moves it behind them.
inline std::uint64_t read_digits(const char*& at, const char* end) {
  std::uint64_t value = 0;
  int room = 18;
  while (end - at >= 8 && room >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    if (!is_eight_digits(word)) break;
    value = value * 100'000'000 + value_of_eight(word);
    at += 8;
    room -= 8;
  }
  for (; at != end && room > 0 && is_digit(*at); ++at, --room) {
    value = value * 10 + static_cast<unsigned char>(*at - '0');
  }
  return value;
}

bool read_any_time_ns(std::string_view microseconds, std::int64_t& ns);
bool read_any_integer(std::string_view text, std::int64_t& value);

}  // namespace number

// Microseconds → nanoseconds. Times beyond ±2^62 ns (146 years) are refused, so that the
// difference of any two fits. Nearly all are digits, perhaps with three decimals. False where it is
// none; who reads millions takes this form, for compilers read a returned optional as a whole while
// its two parts are still being stored, which takes longer than the digits.
inline bool read_time_ns(std::string_view microseconds, std::int64_t& ns) {
  const char* at = microseconds.data();
  const char* const end = at + microseconds.size();
  const std::uint64_t whole = number::read_digits(at, end);
  if (at != microseconds.data() && whole < 4'000'000'000'000'000U) {
    ns = static_cast<std::int64_t>(whole * 1000);
    if (at == end) return true;
    if (end - at == 4 && at[0] == '.' && number::is_digit(at[1]) && number::is_digit(at[2]) &&
        number::is_digit(at[3])) {
      ns += (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0');
      return true;
    }
  }
  return number::read_any_time_ns(microseconds, ns);
}

inline bool read_integer(std::string_view text, std::int64_t& value) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool is_negative = at != end && *at == '-';
  if (is_negative) ++at;
  const char* const first = at;
  const auto magnitude = static_cast<std::int64_t>(number::read_digits(at, end));
  value = is_negative ? -magnitude : magnitude;
  if (at == end && at != first) return true;
  return number::read_any_integer(text, value);
}

inline std::optional<std::int64_t> parse_time_ns(std::string_view microseconds) {
  std::int64_t ns = 0;
  return read_time_ns(microseconds, ns) ? std::optional(ns) : std::nullopt;
}

inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  return read_integer(text, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// An id: decimal or 0x… text as a number, any other text as its hash.
std::uint64_t parse_id(std::string_view text);

}  // namespace fathom::trace
