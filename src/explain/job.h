#pragma once

#include <optional>
#include <vector>

#include "analyze/hta/hta.h"
#include "analyze/hta/hta_summary.h"
#include "analyze/ranks/ranks.h"

namespace fathom::explain {

// What the ranks of a job say together.
struct Job {
  std::vector<analyze::RankFindings> ranks;  // by rank, then device
  analyze::HtaSummary summary;
  std::optional<analyze::RankReport> comparison;  // of two ranks or more; rows as `ranks` has them
};

// Of one trace or many. What comparing the ranks needs (RankFindings::run) is used up.
Job job(std::vector<analyze::RankFindings> ranks);

}  // namespace fathom::explain
