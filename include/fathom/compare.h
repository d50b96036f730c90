#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fathom/change_type.h"
#include "fathom/comparison_outcome.h"
#include "fathom/export.h"
#include "fathom/results.h"

// Comparing runs, as `fathom compare` does: docs/compare.md says how verdicts are made. It reads
// traces, so it is a library of its own beside the profiler's: link fathom::analysis.
//
//   #include <fathom/compare.h>
//
//   const auto comparison = fathom::compare_profiling_runs("before.json", "now.json");
//   comparison.print_regressions();
//   return comparison.summary().outcome == fathom::ComparisonOutcome::regression;
namespace fathom {

// One operation, before and now. Times are of a call. Absent is what only one side has.
struct OperationComparison {
  std::string operation;
  std::optional<double> baseline_time_ms;
  std::optional<double> current_time_ms;
  std::optional<double> change_ms;
  std::optional<double> change_percent;
  std::optional<double> change_percent_low;  // the truth lies between these with 95 % confidence
  std::optional<double> change_percent_high;
  ChangeType change_type = ChangeType::inconclusive;
  bool is_significant = false;  // the change is real, whatever its size
  bool is_suspect = false;      // strong evidence, from one run per side
  double baseline_calls = 0;    // of a run
  double current_calls = 0;
  std::optional<double> memory_change_mb;
};

struct ComparisonSummary {
  ComparisonOutcome outcome = ComparisonOutcome::inconclusive;
  std::size_t improvements = 0;  // how many operations
  std::size_t regressions = 0;
  std::size_t unchanged = 0;
  std::size_t added = 0;
  std::size_t removed = 0;
  std::size_t inconclusive = 0;
  std::size_t unstable = 0;
  std::size_t suspects = 0;                      // of the inconclusive
  std::optional<double> overall_change_percent;  // of the whole run, or of a step
  double matched_percent = 0;                    // of the time, in operations that both sides have
  std::string text;                              // what changed, in words
};

class FATHOM_API RunComparison {
 public:
  ComparisonSummary summary() const;
  std::vector<OperationComparison> operations() const;  // the largest change of self time first

  // Those that are proven, then those that are suspect; the largest change of self time first.
  std::vector<OperationComparison> regressions(std::size_t most = 5) const;
  std::vector<OperationComparison> improvements(std::size_t most = 5) const;

  std::string summary_text() const;  // as `fathom compare` writes it
  std::string regressions_text(std::size_t most = 5) const;
  std::string improvements_text(std::size_t most = 5) const;
  void print_summary() const;  // the same, to standard output
  void print_regressions(std::size_t most = 5) const;
  void print_improvements(std::size_t most = 5) const;
  void export_json(const std::string& path) const;  // as docs/compare.schema.json says

  struct Content;
  explicit RunComparison(std::shared_ptr<const Content> content);

 private:
  std::shared_ptr<const Content> content_;
};

// The runs of one side: a file or several, of any format Fathom reads (profile JSON, runs, traces);
// or what Profiler::summary() gave in each run, or the `scopes` of sessions.
struct ProfilingRuns {
  ProfilingRuns(const char* file) : files{file} {}
  ProfilingRuns(std::string file) : files{std::move(file)} {}
  ProfilingRuns(std::vector<std::string> names) : files(std::move(names)) {}
  ProfilingRuns(std::initializer_list<std::string> names) : files(names) {}
  ProfilingRuns(Summaries run) : summaries{std::move(run)} {}
  ProfilingRuns(std::vector<Summaries> runs) : summaries(std::move(runs)) {}
  ProfilingRuns(std::initializer_list<Summaries> runs) : summaries(runs) {}

  std::vector<std::string> files;
  std::vector<Summaries> summaries;
};

// A change of `threshold_percent` or more counts. One run per side can make a change suspect;
// several prove it. Throws an exception of std::runtime_error that says what is wrong with which
// file.
FATHOM_API RunComparison compare_profiling_runs(const ProfilingRuns& base,
                                                const ProfilingRuns& current,
                                                double threshold_percent = 5);

}  // namespace fathom
