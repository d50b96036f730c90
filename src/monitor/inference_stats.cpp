#include "monitor/inference_stats.h"

#include <algorithm>
#include <cmath>

#include "fathom/detail/log_bucket.h"

namespace fathom::monitor {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kLongestMs = 1e7;  // three hours: what is longer is a mistake

// The first bucket whose limit is not below it.
std::size_t bucket_of(double ms) {
  const std::vector<double>& limits = InferenceStats::bucket_limits_ms();
  return static_cast<std::size_t>(std::ranges::lower_bound(limits, ms) - limits.begin());
}

}  // namespace

const std::vector<double>& InferenceStats::bucket_limits_ms() {
  static const std::vector<double> limits = {1,   2,   5,    10,   25,   50,    100,
                                             250, 500, 1000, 2500, 5000, 10'000};
  return limits;
}

InferenceStats::Part InferenceStats::part_of(double milliseconds) {
  Part part;
  if (!(milliseconds >= 0 && milliseconds <= kLongestMs)) return part;
  const std::int64_t ns = std::llround(milliseconds * kNsPerMs);
  part = {.count = 1, .sum_ns = ns, .min_ns = ns, .max_ns = ns, .sketch = {}, .buckets = {}};
  part.sketch[detail::log_bucket(static_cast<std::uint64_t>(ns))] = 1;
  part.buckets.resize(bucket_limits_ms().size() + 1);
  part.buckets[bucket_of(milliseconds)] = 1;
  return part;
}

void InferenceStats::merge(Part& into, const Part& other) {
  if (other.count == 0) return;
  into.min_ns = into.count == 0 ? other.min_ns : std::min(into.min_ns, other.min_ns);
  into.max_ns = std::max(into.max_ns, other.max_ns);
  into.count += other.count;
  into.sum_ns += other.sum_ns;
  for (const auto& [bucket, count] : other.sketch) into.sketch[bucket] += count;
  into.buckets.resize(bucket_limits_ms().size() + 1);
  for (std::size_t i = 0; i < std::min(into.buckets.size(), other.buckets.size()); ++i) {
    into.buckets[i] += other.buckets[i];
  }
}

void InferenceStats::add(double milliseconds) {
  add(part_of(milliseconds));
}

void InferenceStats::add(const Part& part) {
  if (part.count == 0) return;
  min_ns_ = count_ == 0 ? part.min_ns : std::min(min_ns_, part.min_ns);
  max_ns_ = std::max(max_ns_, part.max_ns);
  count_ += part.count;
  sum_ns_ += part.sum_ns;
  for (const auto& [bucket, count] : part.sketch) {
    if (bucket < detail::kLogBuckets) sketch_.add_bucket(bucket, count);
  }
  buckets_.resize(bucket_limits_ms().size() + 1);
  for (std::size_t i = 0; i < std::min(buckets_.size(), part.buckets.size()); ++i) {
    buckets_[i] += part.buckets[i];
  }
}

InferenceFigures InferenceStats::figures() const {
  InferenceFigures figures;
  figures.count = count_;
  figures.sum_ms = static_cast<double>(sum_ns_) / kNsPerMs;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < bucket_limits_ms().size(); ++i) {
    if (i < buckets_.size()) cumulative += buckets_[i];
    figures.buckets.emplace_back(bucket_limits_ms()[i], cumulative);
  }
  if (count_ == 0) return figures;
  figures.mean_ms = figures.sum_ms / static_cast<double>(count_);
  figures.min_ms = static_cast<double>(min_ns_) / kNsPerMs;
  figures.max_ms = static_cast<double>(max_ns_) / kNsPerMs;
  if (sketch_.count() == 0) return figures;
  const auto quantile = [&](double q) {
    return std::clamp(sketch_.quantile(q) / kNsPerMs, *figures.min_ms, *figures.max_ms);
  };
  figures.p50_ms = quantile(0.50);
  figures.p95_ms = quantile(0.95);
  figures.p99_ms = quantile(0.99);
  return figures;
}

}  // namespace fathom::monitor
