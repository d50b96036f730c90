#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace fathom::detail {

// Buckets for durations, 64 to each power of two: a value is known from its bucket to within
// 1/128 (0.8 %) however large it is, and finding the bucket takes a handful of instructions.
// Values below 64 have a bucket each.
inline constexpr unsigned kLogBucketBits = 6;
inline constexpr std::size_t kLogBuckets = (64 - kLogBucketBits + 1) << kLogBucketBits;

constexpr std::size_t log_bucket(std::uint64_t value) {
  const auto octave = static_cast<unsigned>(std::bit_width(value >> kLogBucketBits));
  const unsigned shift = octave == 0 ? 0 : octave - 1;
  return (static_cast<std::size_t>(octave) << kLogBucketBits) +
         ((value >> shift) & ((1U << kLogBucketBits) - 1));
}

// The smallest value of a bucket, and how many values it holds.
constexpr std::uint64_t log_bucket_first(std::size_t bucket) {
  const auto octave = static_cast<unsigned>(bucket >> kLogBucketBits);
  const std::uint64_t within = bucket & ((1U << kLogBucketBits) - 1);
  return octave == 0 ? within : (within + (1U << kLogBucketBits)) << (octave - 1);
}

constexpr std::uint64_t log_bucket_width(std::size_t bucket) {
  const auto octave = static_cast<unsigned>(bucket >> kLogBucketBits);
  return octave == 0 ? 1 : std::uint64_t{1} << (octave - 1);
}

}  // namespace fathom::detail
