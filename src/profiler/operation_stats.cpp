#include "profiler/operation_stats.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <thread>

namespace fathom::detail {

void Statistics::merge(const Statistics& other) {
  count += other.count;
  total += other.total;
  nested += other.nested;
  self += other.self;
  shortest = std::min(shortest, other.shortest);
  longest = std::max(longest, other.longest);
  failed += other.failed;
  squares += other.squares;
  sketch.merge(other.sketch);
}

double Statistics::standard_deviation() const {
  // n·Σx² − (Σx)² is exact in 128 bits up to n·Σx² = 2^127; a long double carries what is beyond.
  const auto n = static_cast<long double>(count);
  const auto sum = static_cast<long double>(total);
  long double spread = 0;
  if (squares < (Uint128{1} << 127) / count) {
    spread = static_cast<long double>(Uint128{count} * squares - Uint128{total} * total);
  } else {
    spread = n * static_cast<long double>(squares) - sum * sum;
  }
  return static_cast<double>(std::sqrt(std::max(spread, 0.0L)) / n);
}

double Statistics::quantile(double q) const {
  return std::clamp(sketch.quantile(q), static_cast<double>(shortest),
                    static_cast<double>(longest));
}

OperationFigures Statistics::figures(double ns_per_tick) const {
  const auto ns = [&](auto ticks) { return static_cast<double>(ticks) * ns_per_tick; };
  OperationFigures figures;
  figures.calls = count;
  figures.errors = failed;
  figures.total_ns = ns(total - nested);
  if (nested > 0) figures.nested_ns = ns(nested);
  figures.self_ns = ns(self);
  figures.min_ns = ns(shortest);
  figures.max_ns = ns(longest);
  figures.std_dev_ns = ns(standard_deviation());
  figures.p50_ns = ns(quantile(0.50));
  figures.p95_ns = ns(quantile(0.95));
  figures.p99_ns = ns(quantile(0.99));
  return figures;
}

OperationStats::~OperationStats() {
  for (const auto& octave : octaves_) delete octave.load(kRelaxed);
}

void OperationStats::add_long(std::uint64_t duration, std::uint64_t self) noexcept {
  const std::uint64_t sequence = begin_change();
  change(duration, self);
  const Uint128 squares =
      (Uint128{squares_high_.load(kRelaxed)} << 64 | squares_low_.load(kRelaxed)) +
      Uint128{duration} * duration;
  squares_low_.store(static_cast<std::uint64_t>(squares), kRelease);
  squares_high_.store(static_cast<std::uint64_t>(squares >> 64), kRelease);
  count(duration);
  end_change(sequence, kLong);  // stands for "counted already"
}

void OperationStats::count(std::uint64_t duration) noexcept {
  const std::size_t bucket = log_bucket(duration);
  std::atomic<Octave*>& octave = octaves_[bucket >> kLogBucketBits];
  Octave* buckets = octave.load(kRelaxed);
  if (buckets == nullptr) {
    buckets = new (std::nothrow) Octave{};
    if (buckets == nullptr) return;  // the quantiles do without it
    octave.store(buckets, kRelease);
  }
  increase((*buckets)[bucket % buckets->size()], 1);
}

void OperationStats::count_recent() noexcept {
  for (const auto& recent : recent_) {
    const std::uint32_t duration = recent.load(kRelaxed);
    if (duration != kLong) count(duration);
  }
}

void OperationStats::clear() noexcept {
  const std::uint64_t sequence = begin_change();
  for (Counter* counter :
       {&total_, &nested_, &self_, &squares_low_, &squares_high_, &longest_, &failed_}) {
    counter->store(0, kRelease);
  }
  open_ = 0;
  shortest_.store(UINT64_MAX, kRelease);
  for (auto& octave : octaves_) {
    if (Octave* buckets = octave.load(kRelaxed)) {
      for (Counter& bucket : *buckets) bucket.store(0, kRelease);
    }
  }
  // The sequence never goes back, or a reader could take two states for one; it goes on to where
  // the next duration is the first of 64.
  const std::uint64_t next = (sequence / (2 * kRecent) + 1) * (2 * kRecent);
  first_sequence_.store(next, kRelease);
  sequence_.store(next, kRelease);
}

Statistics OperationStats::snapshot() const {
  // The owner changes it for a few nanoseconds in every thirty at most, so a few tries do. Where it
  // lost its core in the middle of a change, it gets time to come back; a thread that was stopped
  // there for good gives figures of neighbouring instants, which are still better than none.
  constexpr int kQuickTries = 1000;
  constexpr int kTries = 5000;
  Statistics stats;
  std::array<std::uint32_t, kRecent> recent{};
  std::size_t recent_count = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (attempt > kQuickTries) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::uint64_t sequence = sequence_.load(kAcquire);
    stats.count = (sequence - first_sequence_.load(kAcquire)) / 2;
    stats.total = total_.load(kAcquire);
    stats.nested = nested_.load(kAcquire);
    stats.self = self_.load(kAcquire);
    stats.squares = Uint128{squares_high_.load(kAcquire)} << 64 | squares_low_.load(kAcquire);
    stats.shortest = shortest_.load(kAcquire);
    stats.longest = longest_.load(kAcquire);
    recent_count = place_of(sequence);
    for (std::size_t i = 0; i < recent_count; ++i) recent[i] = recent_[i].load(kAcquire);
    if (sequence % 2 == 0 && sequence_.load(kRelaxed) == sequence) break;
  }
  stats.failed = failed_.load(kAcquire);
  for (std::size_t i = 0; i < recent_count; ++i) {
    if (recent[i] != kLong) stats.sketch.add(recent[i]);
  }
  for (std::size_t octave = 0; octave < kOctaves; ++octave) {
    const Octave* buckets = octaves_[octave].load(kAcquire);
    for (std::size_t i = 0; buckets != nullptr && i < buckets->size(); ++i) {
      stats.sketch.add_bucket((octave << kLogBucketBits) + i, (*buckets)[i].load(kRelaxed));
    }
  }
  return stats;
}

}  // namespace fathom::detail
