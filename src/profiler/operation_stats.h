#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/quantile_sketch.h"
#include "fathom/detail/log_bucket.h"
#include "fathom/figures.h"

namespace fathom::detail {

__extension__ using Uint128 = unsigned __int128;

// All durations of one operation, in ticks: exact but for the sketch.
struct Statistics {
  std::uint64_t count = 0;
  std::uint64_t total = 0;   // of all calls
  std::uint64_t nested = 0;  // of those inside another call of the operation, on the same thread
  std::uint64_t self = 0;
  std::uint64_t shortest = UINT64_MAX;
  std::uint64_t longest = 0;
  std::uint64_t failed = 0;
  Uint128 squares = 0;
  base::QuantileSketch sketch;

  void merge(const Statistics& other);
  double standard_deviation() const;  // call only when count > 0
  double quantile(double q) const;    // likewise; never outside [shortest, longest]
  OperationFigures figures(double ns_per_tick) const;  // likewise
};

// The same while it is being measured, by one thread; others may read it at any time.
//
// The owner's stores are bracketed by a sequence number that is odd meanwhile and counts the
// durations as well, so a reader knows when it has a consistent set. They are plain moves on x86.
// The histogram is the dear part, because where to count depends on the clock that was just read
// and the next reading waits for it: durations are put aside and counted 64 at a time.
class OperationStats {
 public:
  ~OperationStats();

  // A call begins; add or add_long ends it.
  void begin() noexcept { ++open_; }

  // Durations of kLong ticks and more go through add_long.
  static constexpr std::uint64_t kLong = UINT32_MAX;

  void add(std::uint64_t duration, std::uint64_t self) noexcept {
    const std::uint64_t sequence = begin_change();
    change(duration, self);
    const std::uint64_t square = duration * duration;
    const std::uint64_t low = squares_low_.load(kRelaxed);
    squares_low_.store(low + square, kRelease);
    if (low + square < low) [[unlikely]]
      increase(squares_high_, 1);
    end_change(sequence, static_cast<std::uint32_t>(duration));
  }
  void add_long(std::uint64_t duration, std::uint64_t self) noexcept;
  void add_failure() noexcept { increase(failed_, 1); }
  void clear() noexcept;

  // Any thread.
  Statistics snapshot() const;

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr auto kRelease = std::memory_order_release;
  static constexpr auto kAcquire = std::memory_order_acquire;
  static constexpr std::size_t kRecent = 64;
  static constexpr std::size_t kOctaves = kLogBuckets >> kLogBucketBits;
  using Counter = std::atomic<std::uint64_t>;
  using Octave = std::array<Counter, 1U << kLogBucketBits>;

  static void increase(Counter& counter, std::uint64_t by) noexcept {
    counter.store(counter.load(kRelaxed) + by, kRelease);
  }
  static std::size_t place_of(std::uint64_t sequence) { return (sequence >> 1) % kRecent; }

  std::uint64_t begin_change() noexcept {
    const std::uint64_t sequence = sequence_.load(kRelaxed);
    sequence_.store(sequence + 1, kRelaxed);
    return sequence;
  }
  void change(std::uint64_t duration, std::uint64_t self) noexcept {
    increase(total_, duration);
    if (open_ > 1) [[unlikely]]
      increase(nested_, duration);
    open_ -= open_ > 0 ? 1 : 0;
    increase(self_, self);
    if (duration < shortest_.load(kRelaxed)) [[unlikely]]
      shortest_.store(duration, kRelease);
    if (duration > longest_.load(kRelaxed)) [[unlikely]]
      longest_.store(duration, kRelease);
  }
  void end_change(std::uint64_t sequence, std::uint32_t recent) noexcept {
    recent_[place_of(sequence)].store(recent, kRelease);
    // Counted before the sequence says so: who sees none put aside sees all of them counted.
    if (place_of(sequence) == kRecent - 1) [[unlikely]]
      count_recent();
    sequence_.store(sequence + 2, kRelease);
  }
  void count_recent() noexcept;
  void count(std::uint64_t duration) noexcept;

  Counter sequence_ = 0;
  Counter total_ = 0;
  Counter nested_ = 0;
  Counter self_ = 0;
  Counter squares_low_ = 0;
  Counter squares_high_ = 0;
  Counter shortest_ = UINT64_MAX;
  Counter longest_ = 0;
  Counter failed_ = 0;
  Counter first_sequence_ = 0;  // since the last clear
  std::uint64_t open_ = 0;      // the owner's own
  std::array<std::atomic<std::uint32_t>, kRecent> recent_{};
  std::array<std::atomic<Octave*>, kOctaves> octaves_{};
};

}  // namespace fathom::detail
