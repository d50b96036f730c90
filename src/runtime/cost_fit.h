#pragma once

#include <vector>

#include "fathom/router.h"

namespace fathom::runtime {

// launch + a · n^b, in nanoseconds.
struct CostFit {
  double launch_ns = 0;
  double a = 0;
  double b = 1;
  double ns(double size) const;
};

// The one that is nearest to the calls by the ratio of times, so that small calls count as much as
// large ones. Calls that took no time are left out; at least one must be left.
CostFit fit_cost(const std::vector<CallTime>& calls);

}  // namespace fathom::runtime
