#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// How the page's blocks hold many numbers: whole numbers of 7 bits per byte, the lowest first, the
// eighth bit set on all bytes but the last; signed ones as 2n or -2n-1. A column has its length in
// 4 bytes (little endian) before it. web/src/timeline/bytes.ts reads them.
namespace fathom::report {

inline void append_number(std::string& out, std::uint64_t number) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  out += static_cast<char>(number);
}

inline void append_signed(std::string& out, std::int64_t number) {
  append_number(out,
                static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
}

inline void append_column(std::string& out, std::string_view column) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(column.size() >> shift);
  out += column;
}

}  // namespace fathom::report
