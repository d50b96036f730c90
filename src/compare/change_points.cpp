#include "compare/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace fathom::compare {
namespace {

struct Split {
  std::size_t at = 0;  // the first of the second part
  double distance = -1;
};

// The best place to cut `values`, in one sweep: a value that changes sides takes its distances to
// both sides along.
Split best_split(std::span<const double> values, std::size_t least) {
  const std::size_t n = values.size();
  double across = 0;
  double before = 0;
  double after = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) after += std::abs(values[i] - values[j]);
  }
  Split best;
  for (std::size_t moved = 0; moved + 1 < n; ++moved) {
    double to_before = 0;
    double to_after = 0;
    for (std::size_t i = 0; i < moved; ++i) to_before += std::abs(values[i] - values[moved]);
    for (std::size_t i = moved + 1; i < n; ++i) to_after += std::abs(values[i] - values[moved]);
    across += to_after - to_before;
    before += to_before;
    after -= to_after;
    const std::size_t at = moved + 1;
    if (at < least || n - at < least) continue;
    const auto left = static_cast<double>(at);
    const auto right = static_cast<double>(n - at);
    const double energy = 2 * across / (left * right) - 2 * before / (left * (left - 1)) -
                          2 * after / (right * (right - 1));
    const double distance = energy * left * right / (left + right);
    if (distance > best.distance) best = {at, distance};
  }
  return best;
}

bool is_real(std::span<const double> values, const Split& split,
             const ChangePointSettings& settings) {
  std::vector<double> shuffled(values.begin(), values.end());
  std::mt19937_64 random(values.size());
  for (std::size_t i = 0; i < settings.permutations; ++i) {
    std::ranges::shuffle(shuffled, random);
    if (best_split(shuffled, settings.least_runs).distance >= split.distance) return false;
  }
  return true;
}

void split_further(std::span<const double> series, std::size_t begin, std::size_t end,
                   const ChangePointSettings& settings, std::vector<std::size_t>& points) {
  const std::span<const double> values = series.subspan(begin, end - begin);
  if (values.size() < 2 * settings.least_runs) return;
  const Split split = best_split(values, settings.least_runs);
  if (split.distance <= 0 || !is_real(values, split, settings)) return;
  split_further(series, begin, begin + split.at, settings, points);
  points.push_back(begin + split.at);
  split_further(series, begin + split.at, end, settings, points);
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  if (sorted.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

// The change at each point, between the levels on either side of it.
std::vector<ChangePoint> levels(std::span<const double> series,
                                const std::vector<std::size_t>& points) {
  std::vector<ChangePoint> changes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : points[i - 1];
    const std::size_t end = i + 1 == points.size() ? series.size() : points[i + 1];
    const double before = median(series.subspan(begin, points[i] - begin));
    const double after = median(series.subspan(points[i], end - points[i]));
    changes.push_back({points[i], std::expm1(after - before) * 100, before, after});
  }
  return changes;
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> log_centres,
                                       const ChangePointSettings& settings) {
  std::vector<std::size_t> points;
  split_further(log_centres, 0, log_centres.size(), settings, points);
  std::vector<ChangePoint> changes = levels(log_centres, points);
  std::erase_if(changes, [&](const ChangePoint& change) {
    return std::abs(change.change_pct) < settings.threshold_pct;
  });
  return changes;
}

}  // namespace fathom::compare
