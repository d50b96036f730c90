#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fathom::compare {

// Times are compared by their ratio, so they are added up as logarithms. A time of 0 counts as 1
// ns.
inline double log_time(std::int64_t ns) {
  return std::log(static_cast<double>(std::max<std::int64_t>(ns, 1)));
}

}  // namespace fathom::compare
