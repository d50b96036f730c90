#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/format.h"
#include "base/table.h"
#include "report/comparison_words.h"
#include "report/history_report.h"
#include "report/text/more_rows.h"

namespace fathom::report {
namespace {

using base::format_duration;
using compare::History;
using compare::LevelChange;
using compare::OperationHistory;

std::string short_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

std::size_t changed(const History& history) {
  return static_cast<std::size_t>(std::ranges::count_if(
      history.operations, [](const auto& op) { return !op.changes.empty(); }));
}

// The run at which most operations moved.
std::size_t busiest_run(const History& history) {
  std::map<std::size_t, std::size_t> moved;
  for (const OperationHistory& operation : history.operations) {
    for (const LevelChange& change : operation.changes) ++moved[change.run];
  }
  return std::ranges::max_element(moved, {}, [](const auto& run) { return run.second; })->first;
}

std::string story(const History& history) {
  if (history.operations.empty()) return "  There are no operations in these runs.\n";
  const std::size_t count = changed(history);
  if (count > 0) {
    return fmt::format(
        "  {} of {} changed by {:g} % or more, most of them at {}.\n", base::format_count(count),
        base::format_plural(history.operations.size(), "operation", "operations"),
        history.threshold_pct, base::fit(short_name(history.runs[busiest_run(history)]), 60));
  }
  if (!history.is_long_enough()) {
    return fmt::format(
        "  {} too few: it takes {} to tell a step change from noise. To compare two groups of "
        "runs:\n"
        "  fathom compare BEFORE… --with NOW…\n",
        base::format_plural(history.runs.size(), "run is", "runs are"), compare::kLeastHistory);
  }
  return fmt::format("  No operation moved to another level by {:g} % or more.\n",
                     history.threshold_pct);
}

std::string change_table(const History& history, std::size_t top, std::size_t width) {
  base::Table table({"operation", "at", "before", "after", "change"});
  std::size_t rows = 0;
  for (const OperationHistory& operation : history.operations) {
    for (const LevelChange& change : operation.changes) {
      if (++rows > top) continue;
      table.row({operation.name, base::fit(short_name(history.runs[change.run]), 40),
                 format_duration(change.before_ns), format_duration(change.after_ns),
                 fmt::format("{:+.1f} %", change.change_pct)});
    }
  }
  if (table.empty()) return {};
  return "\n" + table.text(width) + more_rows(rows, top);
}

}  // namespace

std::string to_text(const History& history, std::size_t top, std::size_t width) {
  const std::string first = short_name(history.runs.front());
  const std::string last = short_name(history.runs.back());
  return fmt::format("\n  {} … {} · {} · {}\n\n", base::fit(first, 40), base::fit(last, 40),
                     base::format_plural(history.runs.size(), "run", "runs"),
                     base::format_plural(history.operations.size(), "operation", "operations")) +
         story(history) + change_table(history, top, width) +
         (history.left_out == 0 ? "" : "\n  " + left_out_text(history.left_out) + "\n") + "\n";
}

}  // namespace fathom::report
