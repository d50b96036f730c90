#pragma once

#include <bit>
#include <cstdint>

// Within 0.02 % of the truth and a few instructions each: a decision takes one logarithm, and one
// power per device. A polynomial between powers of two, exact there.
namespace fathom::runtime {

// Of a finite number of at least 1.
inline float quick_log2(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto exponent = static_cast<float>(static_cast<int>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u) - 1;
  return exponent + m + m * (1 - m) * (0.4380732f + m * (-0.2366934f + m * 0.0803073f));
}

// Of a number between -126 and 126.
inline float quick_exp2(float value) noexcept {
  const int whole = static_cast<int>(value) - (value < 0 ? 1 : 0);
  const float f = value - static_cast<float>(whole);
  const float power = 1 + f + f * (1 - f) * (-0.3044980f - 0.0782282f * f);
  return power * std::bit_cast<float>(static_cast<std::uint32_t>(whole + 127) << 23);
}

}  // namespace fathom::runtime
