#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fathom::base {

// Of an even number, the lower of the two in the middle. There is at least one.
template <typename Number>
Number median(std::vector<Number> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fathom::base
