#include "report/suggest_report.h"

#include <vector>

namespace fathom::report {

SuggestReport make_suggest_report(const explain::Analysis& analysis, bool all, bool critical,
                                  const std::vector<advise::Suggestion>& others) {
  SuggestReport report = {.trace = analysis.trace(),
                          .source = analysis.source(),
                          .steps = analysis.steps().size(),
                          .found = analysis.suggestions(all)};
  report.found.list.insert(report.found.list.end(), others.begin(), others.end());
  if (critical) {
    report.not_critical = std::erase_if(report.found.list, [](const advise::Suggestion& one) {
      return one.priority != advise::Priority::critical;
    });
  }
  return report;
}

}  // namespace fathom::report
