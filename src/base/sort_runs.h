#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace fathom::base {

// Stable sort for what is nearly sorted, as recordings are: finds the runs that are in order
// already and merges neighbours, twice as many each round. Sorted input costs one comparison an
// item; the worst case is n log n.
template <typename Item, typename Before>
void sort_runs(std::span<Item> items, const Before& before) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (before(items[i], items[i - 1])) starts.push_back(i);
  }
  std::vector<Item> left;
  while (starts.size() > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < starts.size(); i += 2) {
      const std::size_t begin = starts[i];
      starts[kept++] = begin;
      if (i + 1 == starts.size()) break;
      const std::size_t middle = starts[i + 1];
      const std::size_t end = i + 2 < starts.size() ? starts[i + 2] : items.size();
      // Only what overlaps moves: the left run from where the right one would go in.
      const auto from = std::upper_bound(items.begin() + static_cast<std::ptrdiff_t>(begin),
                                         items.begin() + static_cast<std::ptrdiff_t>(middle),
                                         items[middle], before);
      left.assign(from, items.begin() + static_cast<std::ptrdiff_t>(middle));
      auto out = from;
      auto a = left.begin();
      std::size_t b = middle;
      while (a != left.end() && b < end) *out++ = before(items[b], *a) ? items[b++] : *a++;
      std::copy(a, left.end(), out);
    }
    starts.resize(kept);
  }
}

}  // namespace fathom::base
