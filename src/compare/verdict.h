#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compare/sample.h"
#include "fathom/change_type.h"

namespace fathom::compare {

using fathom::ChangeType;

// As JSON and the terminal write them.
inline constexpr std::array<std::string_view, 7> kChangeTypeNames = {
    "IMPROVEMENT", "REGRESSION", "NO_CHANGE", "NEW", "REMOVED", "INCONCLUSIVE", "UNSTABLE"};

constexpr std::string_view name_of(ChangeType type) {
  return kChangeTypeNames[static_cast<std::size_t>(type)];
}

// One operation in every run of either side that has it.
struct OperationRuns {
  std::vector<Sample> base;
  std::vector<Sample> current;
};

struct Settings {
  double threshold_pct = 5;

  // What runs of one program differ by when a single run per side cannot tell: the standard
  // deviation of log centres from run to run.
  double assumed_run_sd = 0.01;

  // With one run per side nothing is called a change, however strong the evidence, unless the user
  // wants the plain threshold to decide.
  bool single_run_decides = false;

  // Judge what takes next to none of the time, too.
  bool all_operations = false;
};

struct Verdict {
  ChangeType type = ChangeType::inconclusive;
  bool is_significant = false;  // the change is real, whatever its size
  bool is_suspect = false;      // strong evidence of a change, from a single run per side

  // In percent of the baseline's centre. Absent for what only one side has.
  std::optional<double> change_pct;
  std::optional<double> low_pct;  // the truth lies between these with 95 % confidence
  std::optional<double> high_pct;

  // Of the mean of a call, tail and all; and whether it changed by the threshold where the centre
  // did not or another way, so that the calls of every run of one side are above those of the
  // other.
  std::optional<double> mean_change_pct;
  bool is_tail_changed = false;
  std::optional<std::uint32_t>
      runs_needed;  // per side, to decide what is inconclusive; an estimate
};

// What can be said of each operation, judged together: their variances inform one another, and the
// number of operations is paid for in the level of proof.
std::vector<Verdict> verdicts(std::span<const OperationRuns> operations, const Settings& settings);

// A change that nearly all operations share, in percent: clocks, not code. Absent where there is
// none of at least 1 %.
std::optional<double> common_shift_pct(std::span<const Verdict> verdicts);

}  // namespace fathom::compare
