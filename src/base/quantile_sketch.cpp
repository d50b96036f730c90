#include "base/quantile_sketch.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fathom/detail/log_bucket.h"

namespace fathom::base {

void QuantileSketch::add(std::uint64_t value, std::uint64_t count) {
  add_bucket(detail::log_bucket(value), count);
}

void QuantileSketch::add_bucket(std::size_t bucket, std::uint64_t count) {
  if (count == 0) return;
  if (buckets_.empty()) first_ = bucket;
  if (bucket < first_) {
    buckets_.insert(buckets_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= buckets_.size()) buckets_.resize(bucket - first_ + 1);
  buckets_[bucket - first_] += count;
  count_ += count;
}

void QuantileSketch::merge(const QuantileSketch& other) {
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
    add_bucket(other.first_ + i, other.buckets_[i]);
  }
}

double QuantileSketch::quantile(double q) const {
  assert(count_ > 0);
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t seen = 0;
  std::size_t at = 0;
  while (at + 1 < buckets_.size() && (seen += buckets_[at]) < rank) ++at;
  const std::size_t bucket = first_ + at;
  return static_cast<double>(detail::log_bucket_first(bucket)) +
         static_cast<double>(detail::log_bucket_width(bucket) - 1) / 2;
}

}  // namespace fathom::base
