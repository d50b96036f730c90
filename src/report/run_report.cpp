#include "report/run_report.h"

#include <utility>

#include "analyze/session.h"

namespace fathom::report {
namespace {

constexpr std::size_t kBottlenecks = 5;

}  // namespace

RunReport make_report(const trace::Trace& trace, std::string source) {
  RunReport report;
  report.source = std::move(source);
  report.activity = analyze::activity(trace);
  report.operations = analyze::operations(trace);
  report.session = analyze::session(trace, report.operations, report.source);
  report.bottlenecks = analyze::bottlenecks(report.operations, kBottlenecks);
  return report;
}

}  // namespace fathom::report
