#include "report/hta_report.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fathom::report {

HtaReport make_hta_report(std::vector<analyze::RankFindings> ranks,
                          std::span<const advise::Suggestions> suggestions) {
  std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.device) < std::tie(b.rank, b.device);
  });
  HtaReport report;
  report.summary = analyze::summarize(ranks);
  report.recommendations = recommend(suggestions);
  if (ranks.size() > 1) {
    std::vector<analyze::RankRun> runs;
    for (analyze::RankFindings& rank : ranks) runs.push_back(std::move(rank.run));
    report.comparison = analyze::compare_ranks(runs);
  }
  report.ranks = std::move(ranks);
  return report;
}

}  // namespace fathom::report
