#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::trace {

// Decimal text → whole number of 10^-digits, exactly; what is beyond is rounded half up. Takes a
// sign, a fraction and an exponent; nullopt for all that is no number or does not fit.
std::optional<std::int64_t> parse_scaled(std::string_view text, int digits);

// Microseconds → nanoseconds. Times beyond ±2^62 ns (146 years) are refused, so that the
// difference of any two fits.
std::optional<std::int64_t> parse_time_ns(std::string_view microseconds);

std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// An id: decimal or 0x… text as a number, any other text as its hash.
std::uint64_t parse_id(std::string_view text);

inline constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;

}  // namespace fathom::trace
