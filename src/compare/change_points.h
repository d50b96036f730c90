#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fathom::compare {

// Where a series of runs moved to another level.
struct ChangePoint {
  std::size_t index = 0;  // the first run at the new level
  double change_pct = 0;  // of the levels' medians, up to the next split on either side
  double log_before = 0;  // these medians
  double log_after = 0;
};

struct ChangePointSettings {
  double threshold_pct = 5;
  std::size_t least_runs = 3;      // at a level; fewer are outliers and no level
  std::size_t permutations = 999;  // a split is real if no shuffled series splits as well: p ≤ .001
};

// Splits the series where the energy distance between its two parts is largest, again and again in
// the parts (E-divisive with means), as long as the split is better than any of a shuffled series;
// then tells those of the threshold or more. Smaller ones still part the levels beside them. In
// order of index. The same input gives the same answer.
std::vector<ChangePoint> change_points(std::span<const double> log_centres,
                                       const ChangePointSettings& settings = {});

}  // namespace fathom::compare
