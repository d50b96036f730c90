#include "fathom/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "fathom/figures.h"
#include "report/comparison_report.h"
#include "trace/read.h"

namespace fathom {

struct RunComparison::Content {
  report::ComparisonReport report;
};

namespace {

using compare::OperationChange;
using Changes = std::vector<const OperationChange*>;

constexpr std::size_t kRows = 20;

std::optional<double> difference(std::optional<double> before, std::optional<double> now) {
  if (!before || !now) return std::nullopt;
  return *now - *before;
}

OperationComparison to_public(const OperationChange& change) {
  OperationComparison operation;
  operation.operation = change.label();
  operation.baseline_time_ms = ms_of(change.base_ns);
  operation.current_time_ms = ms_of(change.current_ns);
  operation.change_ms = difference(operation.baseline_time_ms, operation.current_time_ms);
  operation.change_percent = change.verdict.change_pct;
  operation.change_percent_low = change.verdict.low_pct;
  operation.change_percent_high = change.verdict.high_pct;
  operation.change_type = change.verdict.type;
  operation.is_significant = change.verdict.is_significant;
  operation.is_suspect = change.verdict.is_suspect;
  operation.baseline_calls = change.base_calls;
  operation.current_calls = change.current_calls;
  operation.memory_change_mb =
      mb_of(difference(change.base_memory_bytes, change.current_memory_bytes));
  return operation;
}

std::vector<OperationComparison> to_public(const Changes& changes) {
  std::vector<OperationComparison> operations;
  for (const OperationChange* change : changes) operations.push_back(to_public(*change));
  return operations;
}

std::string table_of(const Changes& changes, const char* none) {
  const std::string table = report::change_table(changes, base::terminal_width(stdout));
  return table.empty() ? fmt::format("  {}\n", none) : table;
}

RunComparison compared(const std::vector<compare::Run>& base,
                       const std::vector<compare::Run>& current, double threshold_percent) {
  if (base.empty() || current.empty()) {
    throw base::Error("compare_profiling_runs", "at least one run is needed on each side");
  }
  if (!(threshold_percent > 0) || !std::isfinite(threshold_percent)) {
    throw base::Error("compare_profiling_runs", "the threshold must be a percentage above 0");
  }
  const auto labels = [](const std::vector<compare::Run>& runs) {
    std::vector<std::string> names;
    for (const compare::Run& run : runs) names.push_back(run.label);
    return names;
  };
  compare::Settings settings;
  settings.threshold_pct = threshold_percent;
  report::ComparisonReport report{compare::compare_runs(base, current, settings), labels(base),
                                  labels(current)};
  return RunComparison(
      std::make_shared<const RunComparison::Content>(RunComparison::Content{std::move(report)}));
}

// One at a time: what is kept of a trace are its operations' times.
std::vector<compare::Run> runs_of(const ProfilingRuns& side, const char* name) {
  std::vector<compare::Run> runs;
  for (const std::string& file : side.files) {
    runs.push_back(compare::run_of(trace::read_trace(file), file));
  }
  for (const Summaries& of_run : side.summaries) {
    trace::Trace trace;
    for (const auto& [operation, figures] : of_run) {
      trace.operations.push_back({figures, operation});
    }
    runs.push_back(compare::run_of(trace, name));
  }
  return runs;
}

}  // namespace

RunComparison::RunComparison(std::shared_ptr<const Content> content)
    : content_(std::move(content)) {}

ComparisonSummary RunComparison::summary() const {
  const compare::Comparison& comparison = content_->report.comparison;
  ComparisonSummary summary;
  summary.outcome = comparison.outcome;
  summary.improvements = comparison.count(ChangeType::improvement);
  summary.regressions = comparison.count(ChangeType::regression);
  summary.unchanged = comparison.count(ChangeType::no_change);
  summary.added = comparison.count(ChangeType::added);
  summary.removed = comparison.count(ChangeType::removed);
  summary.inconclusive = comparison.count(ChangeType::inconclusive);
  summary.unstable = comparison.count(ChangeType::unstable);
  summary.suspects = comparison.suspects();
  if (comparison.whole) summary.overall_change_percent = comparison.whole->verdict.change_pct;
  summary.matched_percent = comparison.matched_pct;
  summary.text = report::story(comparison);
  return summary;
}

std::vector<OperationComparison> RunComparison::operations() const {
  std::vector<OperationComparison> operations;
  for (const OperationChange& change : content_->report.comparison.operations) {
    operations.push_back(to_public(change));
  }
  return operations;
}

std::vector<OperationComparison> RunComparison::regressions(std::size_t most) const {
  return to_public(content_->report.comparison.regressions(most));
}

std::vector<OperationComparison> RunComparison::improvements(std::size_t most) const {
  return to_public(content_->report.comparison.improvements(most));
}

std::string RunComparison::summary_text() const {
  return report::to_text(content_->report, kRows, base::terminal_width(stdout));
}

std::string RunComparison::regressions_text(std::size_t most) const {
  return table_of(content_->report.comparison.regressions(most), "Nothing got slower.");
}

std::string RunComparison::improvements_text(std::size_t most) const {
  return table_of(content_->report.comparison.improvements(most), "Nothing got faster.");
}

void RunComparison::print_summary() const {
  base::say(stdout, summary_text());
}

void RunComparison::print_regressions(std::size_t most) const {
  base::say(stdout, regressions_text(most));
}

void RunComparison::print_improvements(std::size_t most) const {
  base::say(stdout, improvements_text(most));
}

void RunComparison::export_json(const std::string& path) const {
  base::Output output(path);
  output.buffer() = report::to_json(content_->report);
  output.finish();
}

RunComparison compare_profiling_runs(const ProfilingRuns& base, const ProfilingRuns& current,
                                     double threshold_percent) {
  return compared(runs_of(base, "before"), runs_of(current, "now"), threshold_percent);
}

}  // namespace fathom
