#pragma once

// Nanoseconds and bytes inside; milliseconds and megabytes only where the public API and its files
// are named after them. A megabyte is 1,048,576 bytes everywhere.
namespace fathom::base {

inline constexpr double kNsPerMs = 1e6;
inline constexpr double kBytesPerMb = 1024.0 * 1024.0;

template <typename Number>
constexpr double ms_of(Number ns) {
  return static_cast<double>(ns) / kNsPerMs;
}

template <typename Number>
constexpr double mb_of(Number bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

}  // namespace fathom::base
