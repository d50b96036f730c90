#include "compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom::compare {
namespace {

constexpr double kComparablePct = 30;
constexpr double kLeastDoubt = 0.005;  // of the self time: less is no reason to run again

// What a side's figures are divided by, so that they are of one run or one step.
double parts_of(std::span<const Run> runs, bool per_step) {
  double parts = 0;
  for (const Run& run : runs) parts += per_step ? static_cast<double>(run.steps) : 1;
  return parts;
}

struct SideFigures {
  std::optional<double> centre_ns;
  double total_ns = 0;
  double calls = 0;
  std::optional<double> p95_ns;
  std::optional<double> slow_share;
};

SideFigures figures_of(std::span<const Sample> samples, double parts) {
  SideFigures figures;
  double centres = 0;
  double p95 = 0;
  double slow = 0;
  bool all_jump = !samples.empty();
  for (const Sample& sample : samples) {
    centres += sample.log_centre;
    p95 += sample.p95_ns;
    slow += sample.modes ? sample.modes->slow_share : 0;
    all_jump = all_jump && sample.modes;
    figures.total_ns += sample.total_ns / parts;
    figures.calls += static_cast<double>(sample.calls) / parts;
  }
  if (samples.empty()) return figures;
  const auto runs = static_cast<double>(samples.size());
  figures.centre_ns = figures.total_ns > 0 ? std::exp(centres / runs) : 0;
  figures.p95_ns = p95 / runs;
  if (all_jump) figures.slow_share = slow / runs;
  return figures;
}

OperationChange change_of(const AlignedOperation& operation, const Verdict& verdict,
                          double base_parts, double current_parts) {
  const SideFigures base = figures_of(operation.runs.base, base_parts);
  const SideFigures current = figures_of(operation.runs.current, current_parts);
  OperationChange change;
  change.name = operation.name;
  change.kind = operation.kind;
  change.which = operation.which;
  change.is_by_structure = operation.is_by_structure;
  change.runs = operation.runs;
  change.verdict = verdict;
  change.base_ns = base.centre_ns;
  change.current_ns = current.centre_ns;
  change.base_total_ns = base.total_ns;
  change.current_total_ns = current.total_ns;
  change.base_calls = base.calls;
  change.current_calls = current.calls;
  change.base_p95_ns = base.p95_ns;
  change.current_p95_ns = current.p95_ns;
  change.base_slow_share = base.slow_share;
  change.current_slow_share = current.slow_share;
  change.base_memory_bytes = operation.base_memory_bytes;
  change.current_memory_bytes = operation.current_memory_bytes;
  return change;
}

// What a run took, or a step of it on average.
std::optional<std::int64_t> length_of(const Run& run, bool per_step) {
  if (!per_step) return run.wall_ns;
  for (const RunOperation& operation : run.operations) {
    if (operation.name != kStepOperation || operation.kind != trace::SpanKind::annotation) continue;
    const std::vector<std::int64_t> steps = operation.ns();
    return std::accumulate(steps.begin(), steps.end(), std::int64_t{0}) /
           static_cast<std::int64_t>(steps.size());
  }
  return std::nullopt;
}

// The length of the run or of its steps, as an operation that is called once.
std::optional<OperationChange> whole_of(std::span<const Run> base, std::span<const Run> current,
                                        bool per_step, const Settings& settings) {
  OperationRuns runs;
  const auto add = [&](std::span<const Run> from, std::vector<Sample>& to) {
    for (const Run& run : from) {
      const std::optional<std::int64_t> length = length_of(run, per_step);
      if (length) to.push_back(sample_of(std::span(&*length, 1)));
    }
  };
  add(base, runs.base);
  add(current, runs.current);
  if (runs.base.empty() || runs.current.empty()) return std::nullopt;
  AlignedOperation whole;
  whole.name = per_step ? "a step" : "the whole run";
  whole.runs = runs;
  const std::vector<Verdict> verdict = verdicts(std::span(&runs, 1), settings);
  return change_of(whole, verdict.front(), static_cast<double>(runs.base.size()),
                   static_cast<double>(runs.current.size()));
}

std::optional<std::int64_t> peak_of(std::span<const Run> runs) {
  std::optional<std::int64_t> peak;
  for (const Run& run : runs) {
    if (run.peak_memory_bytes) peak = std::max(peak.value_or(0), *run.peak_memory_bytes);
  }
  return peak;
}

ComparisonOutcome outcome_of(const Comparison& comparison) {
  // Of programs of which nothing was recorded, the length of the run can be compared.
  const bool is_length_all = comparison.is_base_empty && comparison.is_current_empty;
  if (comparison.matched_pct < kComparablePct && !(is_length_all && comparison.whole)) {
    return ComparisonOutcome::not_comparable;
  }
  const bool is_whole_slower =
      comparison.whole && comparison.whole->verdict.type == ChangeType::regression;
  if (is_whole_slower || comparison.count(ChangeType::regression) > 0)
    return ComparisonOutcome::regression;
  if (!comparison.open_questions().empty()) return ComparisonOutcome::inconclusive;
  return ComparisonOutcome::no_regression;
}

std::vector<const OperationChange*> top_changes(const std::vector<OperationChange>& operations,
                                                ChangeType type, std::size_t most) {
  const bool is_up = type == ChangeType::regression;
  std::vector<const OperationChange*> found;
  for (const OperationChange& change : operations) {
    if (change.verdict.type == type) found.push_back(&change);
  }
  for (const OperationChange& change : operations) {
    if (change.verdict.is_suspect && (*change.verdict.change_pct > 0) == is_up) {
      found.push_back(&change);
    }
  }
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace

std::string OperationChange::label() const {
  return which.words.empty() ? name : name + " · " + which.words;
}

bool OperationChange::is_mix_changed() const {
  constexpr double kFifth = 0.2;
  return base_slow_share && current_slow_share &&
         std::abs(*current_slow_share - *base_slow_share) >= kFifth;
}

std::size_t Comparison::count(ChangeType type) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      operations, [&](const OperationChange& change) { return change.verdict.type == type; }));
}

std::vector<const OperationChange*> Comparison::open_questions() const {
  const auto is_open = [&](const OperationChange& change) {
    return change.verdict.is_suspect || (change.verdict.type == ChangeType::inconclusive &&
                                         change.verdict.change_pct.value_or(0) >= threshold_pct);
  };
  double all_ns = 0;
  for (const OperationChange& change : operations) all_ns += change.base_self_ns;
  std::vector<const OperationChange*> found;
  if (whole && is_open(*whole)) found.push_back(&*whole);
  for (const OperationChange& change : operations) {
    if (is_open(change) && change.self_change_ns() >= kLeastDoubt * all_ns) {
      found.push_back(&change);
    }
  }
  return found;
}

std::size_t Comparison::suspects() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      operations, [](const OperationChange& change) { return change.verdict.is_suspect; }));
}

std::vector<const OperationChange*> Comparison::regressions(std::size_t most) const {
  return top_changes(operations, ChangeType::regression, most);
}

std::vector<const OperationChange*> Comparison::improvements(std::size_t most) const {
  return top_changes(operations, ChangeType::improvement, most);
}

Comparison compare_runs(std::span<const Run> base, std::span<const Run> current,
                        const Settings& settings) {
  const auto has_steps = [](const Run& run) { return run.steps > 0; };
  Comparison comparison;
  comparison.is_per_step =
      std::ranges::all_of(base, has_steps) && std::ranges::all_of(current, has_steps);
  const double base_parts = parts_of(base, comparison.is_per_step);
  const double current_parts = parts_of(current, comparison.is_per_step);
  const Alignment alignment = align(base, current, settings.all_operations);
  std::vector<OperationRuns> runs;
  for (const AlignedOperation& operation : alignment.operations) runs.push_back(operation.runs);
  const std::vector<Verdict> judged = verdicts(runs, settings);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const AlignedOperation& operation = alignment.operations[i];
    OperationChange change = change_of(operation, judged[i], base_parts, current_parts);
    change.base_self_ns = operation.base_self_ns / base_parts;
    change.current_self_ns = operation.current_self_ns / current_parts;
    comparison.operations.push_back(std::move(change));
  }
  std::ranges::stable_sort(
      comparison.operations, std::greater<>(),
      [](const OperationChange& change) { return std::abs(change.self_change_ns()); });
  comparison.whole = whole_of(base, current, comparison.is_per_step, settings);
  const auto is_empty = [](const Run& run) { return run.operations.empty(); };
  comparison.is_base_empty = std::ranges::all_of(base, is_empty);
  comparison.is_current_empty = std::ranges::all_of(current, is_empty);
  comparison.base_runs = base.size();
  comparison.current_runs = current.size();
  comparison.matched_pct = alignment.matched_pct;
  comparison.left_out = alignment.left_out;
  comparison.common_shift_pct = common_shift_pct(judged);
  comparison.base_peak_bytes = peak_of(base);
  comparison.current_peak_bytes = peak_of(current);
  comparison.base_parts = base_parts;
  comparison.current_parts = current_parts;
  comparison.threshold_pct = settings.threshold_pct;
  comparison.outcome = outcome_of(comparison);
  return comparison;
}

}  // namespace fathom::compare
