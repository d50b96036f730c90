#include "report/run_report.h"

#include <utility>

namespace fathom::report {

RunReport make_report(const trace::Trace& trace, std::string source, std::size_t top) {
  RunReport report;
  report.source = std::move(source);
  report.activity = analyze::activity(trace);
  report.operations = analyze::operations(trace);
  report.bottlenecks = analyze::bottlenecks(report.operations, top);
  return report;
}

}  // namespace fathom::report
