#include "record/cuda/clock_map.h"

#include <algorithm>
#include <cmath>

namespace fathom::record::cuda {
namespace {

constexpr std::size_t kMostPairs = 128;  // a minute, at two per second

}  // namespace

void ClockMap::add(ClockPair pair) {
  // Somebody set the clock back: what was known of it before no longer orders anything.
  if (!pairs_.empty() && pair.cupti_ns <= pairs_.back().cupti_ns) pairs_.clear();
  pairs_.push_back(pair);
  if (pairs_.size() > kMostPairs) pairs_.pop_front();
}

std::int64_t ClockMap::ours(std::int64_t cupti_ns) const {
  if (pairs_.empty()) return cupti_ns;
  const auto after = std::lower_bound(
      pairs_.begin(), pairs_.end(), cupti_ns,
      [](const ClockPair& pair, std::int64_t instant) { return pair.cupti_ns < instant; });
  if (after == pairs_.begin()) return cupti_ns - after->cupti_ns + after->ours_ns;
  const ClockPair& before = *(after - 1);
  const std::int64_t past = cupti_ns - before.cupti_ns;
  if (after == pairs_.end()) return before.ours_ns + past;
  const auto cupti_step = static_cast<double>(after->cupti_ns - before.cupti_ns);
  const auto our_step = static_cast<double>(after->ours_ns - before.ours_ns);
  return before.ours_ns + std::llround(static_cast<double>(past) * (our_step / cupti_step));
}

}  // namespace fathom::record::cuda
