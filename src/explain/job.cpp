#include "explain/job.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fathom::explain {

Job job(std::vector<analyze::RankFindings> ranks) {
  std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.device) < std::tie(b.rank, b.device);
  });
  Job found;
  found.summary = analyze::summarize(ranks);
  if (ranks.size() > 1) {
    std::vector<analyze::RankRun> runs;
    for (analyze::RankFindings& rank : ranks) runs.push_back(std::move(rank.run));
    found.comparison = analyze::compare_ranks(runs);
  }
  found.ranks = std::move(ranks);
  return found;
}

}  // namespace fathom::explain
