#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/change_points.h"
#include "compare/run.h"

namespace fathom::compare {

// Fewer runs cannot show a change point: even a clean step in the middle of 13 comes about by
// shuffling more often than once in a thousand.
inline constexpr std::size_t kLeastHistory = 14;

// An operation that moved to another level.
struct LevelChange {
  std::size_t run = 0;   // the first at the new level
  double before_ns = 0;  // of a call: the levels' medians
  double after_ns = 0;
  double change_pct = 0;
};

// One operation over all runs.
struct OperationHistory {
  std::string name;
  trace::SpanKind kind = trace::SpanKind::other;
  std::vector<std::optional<double>> centre_ns;  // a run each; absent where a run has none of it
  double self_ns = 0;                            // of a run, the mean of those that have it
  std::vector<LevelChange> changes;              // in order of runs
};

struct History {
  std::vector<std::string> runs;
  // Those that changed first, the largest change of self time at their head; then by self time.
  std::vector<OperationHistory> operations;
  std::size_t left_out = 0;  // operations too small in every run to be judged
  double threshold_pct = 0;

  bool is_long_enough() const { return runs.size() >= kLeastHistory; }
};

// Takes in one run after another and keeps a few figures an operation, so that a long history needs
// no more memory than its largest run.
class HistoryBuilder {
 public:
  void add(const Run& run);
  History finish(const ChangePointSettings& settings, bool all_operations = false) &&;

 private:
  struct Series {
    OperationHistory operation;
    double largest_share = 0;  // of a run's self time
    std::size_t runs = 0;      // that have it
  };
  Series& series_of(const std::string& name, trace::SpanKind kind);
  void add_figure(const std::string& name, trace::SpanKind kind, double log_centre, double self_ns,
                  double share);

  std::vector<std::string> runs_;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fathom::compare
