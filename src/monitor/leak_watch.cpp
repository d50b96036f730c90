#include "monitor/leak_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/median.h"

namespace fathom::monitor {
namespace {

constexpr std::int64_t kBucketNs = 10'000'000'000;
constexpr std::size_t kLevels = 29;       // found within five minutes, the first levels included
constexpr std::int64_t kMostMissing = 3;  // levels that are taken to be as the one before
constexpr std::size_t kGroups = 5;        // about a minute each
constexpr double kLevelsPerMinute = 6;
constexpr double kLeastSlope = 1024.0 * 1024.0;  // bytes per minute
constexpr double kLeastZ = 3.5;                  // one-sided: 2 in 10,000
constexpr double kConfidenceZ = 2.576;           // 99 %, two-sided
constexpr double kLeastNew = 0.75;    // of the rise: above all that was before the window
constexpr double kMostFallen = 0.25;  // of the rise
constexpr std::int64_t kForgetNs = 600'000'000'000;

double sign(double value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

// Ranks from 1, equal values sharing the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end + 1) / 2;
    i = end;
  }
  return ranks;
}

// How much larger the variance of the test's statistic is than for independent values: by the
// autocorrelation of the ranks of what the trend does not explain. Never below 1.
double variance_factor(const std::vector<double>& levels, double slope_per_level) {
  std::vector<double> rest(levels.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] = levels[i] - slope_per_level * static_cast<double>(i);
  }
  const std::vector<double> ranks = ranks_of(rest);
  const auto n = static_cast<double>(ranks.size());
  const double mean = (n + 1) / 2;
  double variance = 0;
  for (const double rank : ranks) variance += (rank - mean) * (rank - mean);
  if (variance == 0) return 1;
  double sum = 0;
  for (std::size_t lag = 1; lag <= ranks.size() / 2; ++lag) {
    double product = 0;
    for (std::size_t i = 0; i + lag < ranks.size(); ++i) {
      product += (ranks[i] - mean) * (ranks[i + lag] - mean);
    }
    const double correlation = product / variance;
    if (correlation < 1.96 / std::sqrt(n)) break;  // from the first that may be chance
    const auto k = static_cast<double>(lag);
    sum += (n - k) * (n - k - 1) * (n - k - 2) * correlation;
  }
  return std::max(1.0, 1 + 2 / (n * (n - 1) * (n - 2)) * sum);
}

// The median of each minute or so must be above the one before.
bool rises_throughout(const std::vector<double>& levels) {
  double before = 0;
  for (std::size_t group = 0; group < kGroups; ++group) {
    const std::size_t begin = group * levels.size() / kGroups;
    const std::size_t end = (group + 1) * levels.size() / kGroups;
    std::vector<double> part(levels.begin() + static_cast<std::ptrdiff_t>(begin),
                             levels.begin() + static_cast<std::ptrdiff_t>(end));
    const double median = base::median(part);
    if (group > 0 && median <= before) return false;
    before = median;
  }
  return true;
}

// What was given back, summed over the window, as a share of what it grew.
double fallen_share(const std::vector<double>& levels) {
  double fallen = 0;
  double highest = levels.front();
  for (const double level : levels) {
    highest = std::max(highest, level);
    fallen = std::max(fallen, highest - level);
  }
  const double rise = levels.back() - levels.front();
  return rise > 0 ? fallen / rise : 1;
}

}  // namespace

void LeakSeries::add(std::int64_t time_ns, std::int64_t bytes) {
  last_time_ns_ = time_ns;
  const std::int64_t bucket = time_ns / kBucketNs;
  if (open_ && bucket != *open_) close_bucket();
  const std::int64_t due = first_bucket_ + static_cast<std::int64_t>(levels_.size());
  if (!levels_.empty() && bucket > due && bucket - due <= kMostMissing) {
    for (std::int64_t i = due; i < bucket; ++i) append(levels_.back());
  } else if (!levels_.empty() && bucket != due) {
    // After a longer gap, or a clock that was set back, it begins anew.
    for (const double level : levels_) peak_before_ = std::max(peak_before_.value_or(level), level);
    levels_.clear();
    leak_.reset();
  }
  if (!open_) smallest_ = bytes;
  open_ = bucket;
  smallest_ = std::min(smallest_, bytes);
}

void LeakSeries::close_bucket() {
  if (levels_.empty()) first_bucket_ = *open_;
  open_.reset();
  append(static_cast<double>(smallest_));
  leak_ = judge();
  learn();
}

// A program that gave back half of what looked like a leak may do the same again, and a bit more.
void LeakSeries::learn() {
  const double level = levels_.back();
  if (leak_) {
    suspected_from_ = std::min(suspected_from_.value_or(levels_.front()), levels_.front());
    suspected_to_ = level;
  } else if (suspected_from_) {
    suspected_to_ = std::max(suspected_to_, level);
    if (level > (*suspected_from_ + suspected_to_) / 2) return;
    const double expected = suspected_to_ + (suspected_to_ - level);
    peak_before_ = std::max(peak_before_.value_or(expected), expected);
    suspected_from_.reset();
  }
}

void LeakSeries::append(double level) {
  levels_.push_back(level);
  if (levels_.size() > kLevels) {
    peak_before_ = std::max(peak_before_.value_or(levels_.front()), levels_.front());
    levels_.erase(levels_.begin());
    ++first_bucket_;
  }
}

std::optional<Leak> LeakSeries::judge() const {
  if (levels_.size() < kLevels) return {};
  const double rise = levels_.back() - levels_.front();
  if (peak_before_ && levels_.back() - *peak_before_ < kLeastNew * rise) return {};
  if (!rises_throughout(levels_) || fallen_share(levels_) > kMostFallen) return {};

  std::vector<double> slopes;  // per level
  double statistic = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    for (std::size_t j = i + 1; j < levels_.size(); ++j) {
      statistic += sign(levels_[j] - levels_[i]);
      slopes.push_back((levels_[j] - levels_[i]) / static_cast<double>(j - i));
    }
  }
  std::ranges::sort(slopes);
  const double slope = slopes[slopes.size() / 2];
  const auto n = static_cast<double>(levels_.size());
  const double deviation =
      std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * variance_factor(levels_, slope));
  if ((statistic - 1) / deviation < kLeastZ) return {};

  // The confidence interval of the slope, by the same deviation.
  const auto all = static_cast<double>(slopes.size());
  const double half = kConfidenceZ * deviation / 2;
  const auto at = [&](double place) {
    return slopes[static_cast<std::size_t>(std::clamp(place, 0.0, all - 1))];
  };
  Leak leak;
  leak.bytes_per_minute = slope * kLevelsPerMinute;
  leak.least_bytes_per_minute = at(all / 2 - half) * kLevelsPerMinute;
  leak.most_bytes_per_minute = at(all / 2 + half) * kLevelsPerMinute;
  leak.grown_bytes = static_cast<std::int64_t>(levels_.back() - levels_.front());
  leak.window_seconds = n * static_cast<double>(kBucketNs) / 1e9;
  if (leak.least_bytes_per_minute < kLeastSlope) return {};
  return leak;
}

void LeakWatch::take(std::int64_t time_ns, const std::vector<GpuDevice>& devices) {
  for (const GpuDevice& device : devices) {
    for (const GpuProcess& process : device.processes) {
      if (!process.memory_bytes) continue;
      Watched& watched = watched_[{device.uuid, process.pid, process.start_ticks}];
      watched.series.add(time_ns, *process.memory_bytes);
      watched.process = process;
    }
  }
  std::erase_if(watched_, [&](const auto& each) {
    return time_ns - each.second.series.last_time_ns() > kForgetNs;
  });
}

std::vector<Leak> LeakWatch::leaks() const {
  std::vector<Leak> all;
  for (const auto& [key, watched] : watched_) {
    auto leak = watched.series.leak();
    if (!leak) continue;
    leak->uuid = std::get<0>(key);
    leak->process = watched.process;
    all.push_back(std::move(*leak));
  }
  return all;
}

}  // namespace fathom::monitor
