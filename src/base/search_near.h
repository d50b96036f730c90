#pragma once

#include <algorithm>
#include <iterator>

namespace fathom::base {

// As std::partition_point, for who knows about where it is: looks further and further away from
// `near`, so that it takes as long as that is off, in logarithms, however long the range is.
template <typename Iterator, typename Before>
Iterator partition_point_near(Iterator first, Iterator last, Iterator near, const Before& before) {
  typename std::iterator_traits<Iterator>::difference_type step = 1;
  if (near != last && before(*near)) {
    Iterator low = near + 1;
    for (; last - low >= step && before(low[step - 1]); step *= 2) low += step;
    return std::partition_point(low, low + std::min(step, last - low), before);
  }
  Iterator high = near;
  for (; high - first >= step && !before(*(high - step)); step *= 2) high -= step;
  return std::partition_point(high - std::min(step, high - first), high, before);
}

}  // namespace fathom::base
