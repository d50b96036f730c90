#include "report/hta_report.h"

#include <utility>

namespace fathom::report {

HtaReport make_hta_report(std::vector<analyze::RankFindings> ranks,
                          std::span<const advise::Suggestions> suggestions) {
  return {explain::job(std::move(ranks)), recommend(suggestions)};
}

}  // namespace fathom::report
