#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::report {

// A level at a time, as the page's charts draw it.
template <typename Value>
struct SeriesPoint {
  std::int64_t time_ns = 0;
  Value value = {};
};

// More points than a screen has columns say nothing more. Of each stretch of points the highest is
// kept, where it is, so that no peak is lost; and the first and the last.
template <typename Value>
std::vector<SeriesPoint<Value>> thinned(const std::vector<SeriesPoint<Value>>& points) {
  constexpr std::size_t kMostPoints = 2000;
  if (points.size() <= kMostPoints) return points;
  std::vector<SeriesPoint<Value>> kept;
  kept.reserve(kMostPoints + 2);
  kept.push_back(points.front());
  const auto at = [&](std::size_t slot) {
    return points.begin() + static_cast<std::ptrdiff_t>(slot * points.size() / kMostPoints);
  };
  for (std::size_t slot = 0; slot < kMostPoints; ++slot) {
    kept.push_back(*std::max_element(
        at(slot), at(slot + 1), [](const auto& a, const auto& b) { return a.value < b.value; }));
  }
  kept.push_back(points.back());
  return kept;
}

}  // namespace fathom::report
