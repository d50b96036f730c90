#include "compare/history.h"

#include <algorithm>
#include <cmath>

#include "compare/align.h"

namespace fathom::compare {
namespace {

std::vector<LevelChange> changes_of(const std::vector<std::optional<double>>& centre_ns,
                                    const ChangePointSettings& settings) {
  std::vector<double> log_centres;
  std::vector<std::size_t> run_of;
  for (std::size_t run = 0; run < centre_ns.size(); ++run) {
    if (!centre_ns[run]) continue;
    log_centres.push_back(std::log(*centre_ns[run]));
    run_of.push_back(run);
  }
  std::vector<LevelChange> changes;
  for (const ChangePoint& point : change_points(log_centres, settings)) {
    changes.push_back({run_of[point.index], std::exp(point.log_before), std::exp(point.log_after),
                       point.change_pct});
  }
  return changes;
}

// How much of a run's self time the largest of its changes moved.
double weight_of(const OperationHistory& operation) {
  double largest = 0;
  for (const LevelChange& change : operation.changes) {
    largest = std::max(largest, std::abs(std::log(change.after_ns / change.before_ns)));
  }
  return largest * operation.self_ns;
}

}  // namespace

HistoryBuilder::Series& HistoryBuilder::series_of(const std::string& name, trace::SpanKind kind) {
  const auto [at, is_new] = index_.try_emplace(operation_key(name, kind), series_.size());
  if (is_new) {
    Series& added = series_.emplace_back();
    added.operation.name = name;
    added.operation.kind = kind;
  }
  return series_[at->second];
}

void HistoryBuilder::add_figure(const std::string& name, trace::SpanKind kind, double log_centre,
                                double self_ns, double share) {
  Series& series = series_of(name, kind);
  series.operation.centre_ns.resize(runs_.size());
  series.operation.centre_ns.back() = std::exp(log_centre);
  series.operation.self_ns += self_ns;
  series.largest_share = std::max(series.largest_share, share);
  ++series.runs;
}

void HistoryBuilder::add(const Run& run) {
  runs_.push_back(run.label);
  double whole = 0;
  for (const RunOperation& operation : run.operations) {
    whole += static_cast<double>(operation.self_ns);
  }
  for (const RunOperation& operation : run.operations) {
    if (operation.sites.empty() && !operation.figures) continue;
    const auto self_ns = static_cast<double>(operation.self_ns);
    const double centre =
        operation.figures ? operation.figures->log_centre : sample_of(operation.ns()).log_centre;
    add_figure(operation.name, operation.kind, centre, self_ns, whole > 0 ? self_ns / whole : 0);
  }
}

History HistoryBuilder::finish(const ChangePointSettings& settings, bool all_operations) && {
  History history;
  history.threshold_pct = settings.threshold_pct;
  for (Series& series : series_) {
    const bool is_wanted = all_operations || is_named_by_user(series.operation.kind);
    if (!is_wanted && series.largest_share < kLeastShare) {
      ++history.left_out;
      continue;
    }
    OperationHistory& operation = series.operation;
    operation.centre_ns.resize(runs_.size());
    operation.self_ns /= static_cast<double>(series.runs);
    operation.changes = changes_of(operation.centre_ns, settings);
    history.operations.push_back(std::move(operation));
  }
  history.runs = std::move(runs_);
  std::ranges::stable_sort(history.operations, [](const auto& a, const auto& b) {
    if (a.changes.empty() != b.changes.empty()) return b.changes.empty();
    return a.changes.empty() ? a.self_ns > b.self_ns : weight_of(a) > weight_of(b);
  });
  return history;
}

}  // namespace fathom::compare
