#include "compare/sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "compare/log_time.h"

namespace fathom::compare {
namespace {

constexpr std::size_t kLeastForSpread = 8;
constexpr double kLeastSdOfFew = 0.05;
constexpr std::size_t kSpikes = 12;       // one call in so many may be one
constexpr std::size_t kLeastOfLevel = 6;  // calls that tell where it is
constexpr std::size_t kTellDependence = 8192;
constexpr std::size_t kQuantiles = 64;
constexpr double kModeDistance = 4;  // in standard deviations within a mode
constexpr double kLeastModeShare = 0.15;
constexpr double kLeastModeRatio = 0.02;  // modes closer than 2 % trouble nobody

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The values from rank ⌊low·n⌋ up to ⌈high·n⌉ of sorted ones; never none.
std::span<const double> between(std::span<const double> sorted, double low, double high) {
  const auto n = static_cast<double>(sorted.size());
  const auto begin = static_cast<std::size_t>(low * n);
  const auto end = std::max(static_cast<std::size_t>(std::ceil(high * n)), begin + 1);
  return sorted.subspan(begin, end - begin);
}

// Sorted as integers, of which many are the same: a logarithm for each that differs.
std::vector<double> sorted_logs(std::span<const std::int64_t> ns) {
  std::vector<std::int64_t> times(ns.begin(), ns.end());
  std::ranges::sort(times);
  std::vector<double> logs(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    logs[i] = i > 0 && times[i] == times[i - 1] ? logs[i - 1] : log_time(times[i]);
  }
  return logs;
}

// How much wider the mean of dependent values spreads than that of independent ones, from the
// correlation of neighbours; the first few thousand tell it. Values that are clipped first cannot
// let one spike hide it. Each site counts from its own mean.
double dependence(std::span<const std::int64_t> ns, std::span<const std::size_t> sites, double low,
                  double high) {
  double together = 0;
  double alone = 0;
  const std::size_t looked_at = std::min(ns.size(), kTellDependence);
  std::vector<double> values;
  const auto add = [&](std::size_t begin, std::size_t end) {
    values.clear();
    for (std::size_t i = begin; i < end; ++i)
      values.push_back(std::clamp(log_time(ns[i]), low, high));
    if (values.empty()) return;
    const double centre = mean(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double here = values[i] - centre;
      alone += here * here;
      if (i > 0) together += here * (values[i - 1] - centre);
    }
  };
  if (sites.empty()) add(0, looked_at);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::size_t end = i + 1 < sites.size() ? sites[i + 1] : ns.size();
    add(std::min(sites[i], looked_at), std::min(end, looked_at));
  }
  if (alone <= 0) return 1;
  const double correlation = std::clamp(together / alone, 0.0, 0.95);
  return (1 + correlation) / (1 - correlation);
}

// The sum of squares about the mean of `count` values.
double squares_about_mean(double sum, double squares, std::size_t count) {
  return std::max(squares - sum * sum / static_cast<double>(count), 0.0);
}

// The cut of sorted values into a lower and an upper part that leaves the least variance inside
// them, if what it separates are two modes: levels, each tight, and not a level with spikes above.
// The longest calls are not looked at: a few spikes would make the upper level wide.
std::optional<Modes> modes_of(std::span<const double> all) {
  const std::span<const double> sorted = all.first(all.size() - all.size() / kSpikes);
  const std::size_t n = sorted.size();
  const auto least =
      static_cast<std::size_t>(std::max(4.0, std::ceil(kLeastModeShare * static_cast<double>(n))));
  if (n < 2 * least) return std::nullopt;
  const double shift = sorted[n / 2];  // keeps the squares small
  double sum = 0;
  double squares = 0;
  for (const double value : sorted) {
    sum += value - shift;
    squares += (value - shift) * (value - shift);
  }
  double low_sum = 0;
  double low_squares = 0;
  double best_within = INFINITY;
  double distance = 0;
  double widest = 0;
  double slow_share = 0;
  for (std::size_t low = 1; low <= n - least; ++low) {
    const double value = sorted[low - 1] - shift;
    low_sum += value;
    low_squares += value * value;
    if (low < least) continue;
    const std::size_t high = n - low;
    const double below = squares_about_mean(low_sum, low_squares, low);
    const double above = squares_about_mean(sum - low_sum, squares - low_squares, high);
    if (below + above >= best_within) continue;
    best_within = below + above;
    slow_share = 1 - static_cast<double>(low) / static_cast<double>(all.size());
    distance = (sum - low_sum) / static_cast<double>(high) - low_sum / static_cast<double>(low);
    widest =
        std::sqrt(std::max(below / static_cast<double>(low), above / static_cast<double>(high)));
  }
  if (distance < kLeastModeRatio || distance <= kModeDistance * widest) return std::nullopt;
  return Modes{distance, slow_share};
}

// Of two levels the lower, which does not move when calls go from one to the other.
std::span<const double> lower_level(std::span<const double> sorted,
                                    const std::optional<Modes>& modes) {
  if (!modes) return sorted;
  const auto lower = static_cast<std::size_t>(
      std::llround((1 - modes->slow_share) * static_cast<double>(sorted.size())));
  return lower < kLeastOfLevel ? sorted : sorted.first(lower);
}

// The standard deviation of the mean of a few values.
double sd_of_mean(std::span<const double> values) {
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

// Each is the middle of the share that it stands for.
std::vector<float> quantiles_of(std::span<const double> sorted) {
  const std::size_t count = std::min(sorted.size(), kQuantiles);
  std::vector<float> quantiles(count);
  for (std::size_t i = 0; i < count; ++i) {
    quantiles[i] = static_cast<float>(sorted[(2 * i + 1) * sorted.size() / (2 * count)]);
  }
  return quantiles;
}

}  // namespace

Sample sample_of(std::span<const std::int64_t> ns, std::span<const std::size_t> sites) {
  assert(!ns.empty());
  const std::vector<double> sorted = sorted_logs(ns);

  Sample sample;
  sample.calls = ns.size();
  for (const std::int64_t value : ns) sample.total_ns += static_cast<double>(value);
  sample.modes = modes_of(sorted);
  const std::span<const double> level = lower_level(sorted, sample.modes);
  sample.log_centre = mean(between(level, 0.05, 0.5));
  if (ns.size() >= kLeastForSpread) {
    // The spread of the lower half tells that of a whole that has no disturbance: for normal noise,
    // median less 5th percentile is 1.645 σ, and the centre's own error is about 1.1 σ/√n.
    const double median = level[level.size() / 2];
    const double sd = (median - level[level.size() / 20]) / 1.645;
    const double widened = dependence(ns, sites, median - 3 * sd, median + 3 * sd);
    sample.log_centre_sd = 1.1 * sd * std::sqrt(widened / static_cast<double>(level.size()));
  }
  if (ns.size() > 1 && ns.size() < kLeastForSpread) {
    sample.log_centre_sd = std::max(kLeastSdOfFew, sd_of_mean(sorted));
  }
  double trimmed = 0;
  const std::span<const double> middle = between(sorted, 0.2, 0.8);
  for (const double value : middle) trimmed += std::exp(value);
  sample.trimmed_mean_ns = trimmed / static_cast<double>(middle.size());
  sample.p95_ns = std::exp(
      sorted[static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(sorted.size())) - 1)]);
  sample.log_quantiles = quantiles_of(sorted);
  return sample;
}

}  // namespace fathom::compare
