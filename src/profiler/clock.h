#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace fathom::detail {

__extension__ using Int128 = __int128;

std::int64_t monotonic_raw_ns() noexcept;
std::int64_t unix_ns() noexcept;

#if defined(__x86_64__)
// Whether the time stamp counter runs at one rate whatever the CPU does (cpuid 0x80000007).
extern const bool tsc_is_invariant;

// A tick is one count of the TSC, or a nanosecond where there is no TSC to trust.
inline std::uint64_t ticks() noexcept {
  if (tsc_is_invariant) [[likely]]
    return __rdtsc();
  return static_cast<std::uint64_t>(monotonic_raw_ns());
}

// Where reading the clock is no call.
inline bool ticks_are_quick() noexcept {
  return tsc_is_invariant;
}
inline std::uint64_t quick_ticks() noexcept {
  return __rdtsc();
}
#else
inline bool ticks_are_quick() noexcept {
  return false;
}
inline std::uint64_t ticks() noexcept {
  return static_cast<std::uint64_t>(monotonic_raw_ns());
}
inline std::uint64_t quick_ticks() noexcept {
  return ticks();
}
#endif

// The same instant on both clocks.
struct ClockPoint {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
ClockPoint read_clocks() noexcept;

// A straight line through two clock points: exact at both, linear between and beyond.
class ClockLine {
 public:
  ClockLine() = default;
  ClockLine(ClockPoint from, ClockPoint to) noexcept;

  std::int64_t ns(std::uint64_t at_ticks) const noexcept {
    const auto delta = static_cast<std::int64_t>(at_ticks - from_.ticks);
    // Unsigned: what a process that is gone has left may not fit.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from_.ns) +
                                     static_cast<std::uint64_t>((Int128{delta} * rate_) >> 32));
  }
  double ns_per_tick() const noexcept { return static_cast<double>(rate_) / 4294967296.0; }
  ClockLine(ClockPoint from, std::int64_t rate) noexcept : from_(from), rate_(rate) {}
  ClockPoint from() const noexcept { return from_; }
  std::int64_t rate() const noexcept { return rate_; }

 private:
  ClockPoint from_;
  std::int64_t rate_ = std::int64_t{1} << 32;  // ns per tick, times 2^32
};

// From the process's first use of the clock until now: for whole runs. Its rate gets better as the
// run gets longer; asked within the first milliseconds, it waits for them to pass.
ClockLine clock_since_start() noexcept;
ClockPoint process_start_clocks() noexcept;  // that first use

// The clock of a long recording: calibrated again now and then, without a jump and never backwards.
class SteeredClock {
 public:
  SteeredClock() = default;
  explicit SteeredClock(const ClockLine& line) noexcept : line_(line), is_first_(false) {}

  // Before the first use, and again before it has been used for as long as the process lived until
  // then, or for a few hundred milliseconds. The first time it may jump: a rate from the first
  // milliseconds of a program is wrong by microseconds a second, which is as long as a short scope,
  // so it is taken as late as it can be and not relied on for long.
  void calibrate() noexcept;

  std::int64_t ns(std::uint64_t at_ticks) const noexcept { return line_.ns(at_ticks); }
  bool is_calibrated() const noexcept { return !is_first_; }
  const ClockLine& line() const noexcept { return line_; }

 private:
  ClockLine line_;
  bool is_first_ = true;
};

}  // namespace fathom::detail
