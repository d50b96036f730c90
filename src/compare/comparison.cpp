#include "compare/comparison.h"

#include <algorithm>
#include <cmath>

namespace fathom::compare {
namespace {

constexpr double kComparablePct = 30;

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
};

SideFigures figures_of(std::span<const Sample> samples, double parts) {
  SideFigures figures;
  double centres = 0;
  for (const Sample& sample : samples) {
    centres += sample.log_centre;
    figures.total_ns += sample.total_ns / parts;
    figures.calls += static_cast<double>(sample.calls) / parts;
  }
  if (!samples.empty()) {
    figures.centre_ns = std::exp(centres / static_cast<double>(samples.size()));
  }
  return figures;
}

OperationChange change_of(const AlignedOperation& operation, const Verdict& verdict,
                          double base_parts, double current_parts) {
  const SideFigures base = figures_of(operation.runs.base, base_parts);
  const SideFigures current = figures_of(operation.runs.current, current_parts);
  return {operation.name,    operation.kind, operation.is_by_structure, verdict, base.centre_ns,
          current.centre_ns, base.total_ns,  current.total_ns,          0,       0,
          base.calls,        current.calls};
}

// The length of the run or of its steps, as an operation like the others.
std::optional<OperationChange> whole_of(std::span<const Run> base, std::span<const Run> current,
                                        bool per_step, const Settings& settings) {
  OperationRuns runs;
  const auto add = [&](std::span<const Run> from, std::vector<Sample>& to) {
    for (const Run& run : from) {
      if (!run.wall_ns) continue;
      if (!per_step) {
        to.push_back(sample_of(std::span(&*run.wall_ns, 1)));
        continue;
      }
      for (const RunOperation& operation : run.operations) {
        if (operation.name == "ProfilerStep" && operation.kind == trace::SpanKind::annotation) {
          to.push_back(sample_of(operation.ns));
        }
      }
    }
  };
  add(base, runs.base);
  add(current, runs.current);
  if (runs.base.empty() || runs.current.empty()) return std::nullopt;
  AlignedOperation whole{
      per_step ? "step" : "whole run", trace::SpanKind::other, false, runs, 0, 0};
  const std::vector<Verdict> verdict = verdicts(std::span(&runs, 1), settings);
  return change_of(whole, verdict.front(), parts_of(base, per_step), parts_of(current, per_step));
}

std::optional<std::int64_t> peak_of(std::span<const Run> runs) {
  std::optional<std::int64_t> peak;
  for (const Run& run : runs) {
    if (run.peak_memory_bytes) peak = std::max(peak.value_or(0), *run.peak_memory_bytes);
  }
  return peak;
}

Outcome outcome_of(const Comparison& comparison) {
  if (comparison.matched_pct < kComparablePct) return Outcome::not_comparable;
  const bool is_whole_slower =
      comparison.whole && comparison.whole->verdict.type == ChangeType::regression;
  if (is_whole_slower || comparison.count(ChangeType::regression) > 0) return Outcome::regression;
  // One run a side proves nothing: its suspects and its large changes stay open questions.
  const auto is_open = [&](const OperationChange& change) {
    return change.verdict.is_suspect ||
           (change.verdict.type == ChangeType::inconclusive &&
            change.verdict.change_pct.value_or(0) >= comparison.threshold_pct);
  };
  if (std::ranges::any_of(comparison.operations, is_open)) return Outcome::inconclusive;
  return Outcome::no_regression;
}

}  // namespace

std::size_t Comparison::count(ChangeType type) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      operations, [&](const OperationChange& change) { return change.verdict.type == type; }));
}

Comparison compare_runs(std::span<const Run> base, std::span<const Run> current,
                        const Settings& settings) {
  const auto has_steps = [](const Run& run) { return run.steps > 0; };
  Comparison comparison;
  comparison.is_per_step =
      std::ranges::all_of(base, has_steps) && std::ranges::all_of(current, has_steps);
  const double base_parts = parts_of(base, comparison.is_per_step);
  const double current_parts = parts_of(current, comparison.is_per_step);
  const Alignment alignment = align(base, current);
  std::vector<OperationRuns> runs;
  for (const AlignedOperation& operation : alignment.operations) runs.push_back(operation.runs);
  const std::vector<Verdict> judged = verdicts(runs, settings);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const AlignedOperation& operation = alignment.operations[i];
    OperationChange change = change_of(operation, judged[i], base_parts, current_parts);
    change.base_self_ns = operation.base_self_ns * static_cast<double>(base.size()) / base_parts;
    change.current_self_ns =
        operation.current_self_ns * static_cast<double>(current.size()) / current_parts;
    comparison.operations.push_back(std::move(change));
  }
  std::ranges::stable_sort(
      comparison.operations, std::greater<>(),
      [](const OperationChange& change) { return std::abs(change.self_change_ns()); });
  comparison.whole = whole_of(base, current, comparison.is_per_step, settings);
  comparison.base_runs = base.size();
  comparison.current_runs = current.size();
  comparison.matched_pct = alignment.matched_pct;
  comparison.left_out = alignment.left_out;
  comparison.common_shift_pct = common_shift_pct(judged);
  comparison.base_peak_bytes = peak_of(base);
  comparison.current_peak_bytes = peak_of(current);
  comparison.threshold_pct = settings.threshold_pct;
  comparison.outcome = outcome_of(comparison);
  return comparison;
}

}  // namespace fathom::compare
