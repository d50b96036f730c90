#include "profiler/clock.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fathom::detail {
namespace {

std::int64_t read_ns(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The shortest stretch that gives a rate worth having.
constexpr std::int64_t kShortestBase = 5'000'000;

#if defined(__x86_64__)
bool find_invariant_tsc() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kInvariantTsc = 1U << 8;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
}
#endif

}  // namespace

#if defined(__x86_64__)
const bool tsc_is_invariant = find_invariant_tsc();
#endif

namespace {
// Read when the library is loaded, before any scope can begin.
const ClockPoint process_start = read_clocks();
}  // namespace

std::int64_t monotonic_raw_ns() noexcept {
  return read_ns(CLOCK_MONOTONIC_RAW);
}
std::int64_t unix_ns() noexcept {
  return read_ns(CLOCK_REALTIME);
}

ClockPoint read_clocks() noexcept {
  // An interrupt between the two readings would spoil the point: take the tightest of a few.
  ClockPoint best;
  std::uint64_t tightest = UINT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = ticks();
    const std::int64_t ns = monotonic_raw_ns();
    const std::uint64_t width = ticks() - before;
    if (width < tightest) {
      tightest = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

ClockLine::ClockLine(ClockPoint from, ClockPoint to) noexcept : from_(from) {
  const auto passed = static_cast<std::int64_t>(to.ticks - from.ticks);
  if (passed <= 0) return;
  rate_ = static_cast<std::int64_t>((Int128{to.ns - from.ns} << 32) / passed);
}

ClockPoint process_start_clocks() noexcept {
  return process_start;
}

ClockLine clock_since_start() noexcept {
  ClockPoint now = read_clocks();
  const std::int64_t passed = now.ns - process_start.ns;
  if (passed < kShortestBase) {
    const timespec rest{0, kShortestBase - std::max<std::int64_t>(passed, 0)};
    nanosleep(&rest, nullptr);
    now = read_clocks();
  }
  return {process_start, now};
}

void SteeredClock::calibrate() noexcept {
  // From where the old line is now to where the long-term line will be in a second.
  const ClockLine best = clock_since_start();
  if (std::exchange(is_first_, false)) {
    line_ = best;
    return;
  }
  const std::uint64_t now = ticks();
  const auto second = static_cast<std::uint64_t>(1e9 / best.ns_per_tick());
  line_ = ClockLine({now, line_.ns(now)}, {now + second, best.ns(now + second)});
}

}  // namespace fathom::detail
