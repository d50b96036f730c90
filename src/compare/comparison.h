#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/align.h"
#include "fathom/comparison_outcome.h"

namespace fathom::compare {

// One operation, before and after. Times are of a call (its undisturbed centre) unless they say
// total, which is of a run, or of a step where both sides have steps.
struct OperationChange {
  std::string name;
  trace::SpanKind kind = trace::SpanKind::other;
  CallSubset which;
  bool is_by_structure = false;
  OperationRuns runs;
  Verdict verdict;
  std::optional<double> base_ns;
  std::optional<double> current_ns;
  double base_total_ns = 0;
  double current_total_ns = 0;
  double base_self_ns = 0;  // of base_total_ns, what no operation inside it covers
  double current_self_ns = 0;
  double base_calls = 0;  // of a run or a step
  double current_calls = 0;
  std::optional<double> base_p95_ns;  // of a call, the mean of the runs
  std::optional<double> current_p95_ns;
  std::optional<double> base_slow_share;  // of the calls, where every run jumps between two levels
  std::optional<double> current_slow_share;
  std::optional<double> base_memory_bytes;  // of a scope: device memory while it ran, at most
  std::optional<double> current_memory_bytes;

  // Its name, and which of its calls are meant where not all are: "gemm · grid 64x1x1".
  std::string label() const;

  // There are the same levels as before, and at least a fifth of the calls moved to the other.
  bool is_mix_changed() const;
  double self_change_ns() const { return current_self_ns - base_self_ns; }
};

inline constexpr std::array<std::string_view, 4> kOutcomeNames = {"no_regression", "regression",
                                                                  "inconclusive", "not_comparable"};

constexpr std::string_view name_of(ComparisonOutcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

struct Comparison {
  std::vector<OperationChange> operations;  // largest change of self time first
  std::optional<OperationChange> whole;     // the run, or the step where both sides have steps
  bool is_per_step = false;
  std::size_t base_runs = 0;
  std::size_t current_runs = 0;
  bool is_base_empty = false;  // none of its runs has an operation
  bool is_current_empty = false;
  double matched_pct = 0;
  std::size_t left_out = 0;
  std::optional<double> common_shift_pct;
  std::optional<std::int64_t> base_peak_bytes;  // of device memory, the largest of its runs
  std::optional<std::int64_t> current_peak_bytes;
  double base_parts = 0;  // runs or steps of the side
  double current_parts = 0;
  double threshold_pct = 0;
  ComparisonOutcome outcome = ComparisonOutcome::inconclusive;

  std::size_t count(ChangeType type) const;
  std::size_t suspects() const;  // some of the inconclusive

  // What keeps these runs from saying that nothing got slower: suspects, and what looks slower by
  // the threshold but is not proven, where that is half a percent of the self time. The whole comes
  // first, then the largest change of self time.
  std::vector<const OperationChange*> open_questions() const;

  // What got slower, or faster: the proven first, then the suspect; the largest change of self time
  // first. At most so many.
  std::vector<const OperationChange*> regressions(std::size_t most) const;
  std::vector<const OperationChange*> improvements(std::size_t most) const;
};

// Compares one or several runs per side; at least one each.
Comparison compare_runs(std::span<const Run> base, std::span<const Run> current,
                        const Settings& settings);

}  // namespace fathom::compare
