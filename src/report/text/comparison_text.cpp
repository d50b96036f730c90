#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/table.h"
#include "report/comparison_report.h"
#include "report/comparison_words.h"
#include "report/text/more_rows.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

using base::format_duration;

constexpr std::size_t kWideColumns = 120;  // from here on there is room for intervals

std::string operation_table(const Comparison& comparison, std::size_t top, std::size_t width) {
  const std::size_t shown = std::min(top, comparison.operations.size());
  std::vector<const OperationChange*> changes;
  for (std::size_t i = 0; i < shown; ++i) changes.push_back(&comparison.operations[i]);
  const std::string table = change_table(changes, width);
  if (table.empty()) return {};
  return "\n" + table + more_rows(comparison.operations.size(), shown);
}

// How many operations are called more or less often, by the threshold at least.
std::string call_counts(const Comparison& comparison) {
  std::size_t more = 0;
  std::size_t less = 0;
  const double least = comparison.threshold_pct / 100;
  for (const OperationChange& change : comparison.operations) {
    if (change.base_calls <= 0 || change.current_calls <= 0) continue;
    const double ratio = change.current_calls / change.base_calls - 1;
    if (ratio >= least) ++more;
    if (ratio <= -least) ++less;
  }
  if (more + less == 0) return {};
  const auto called = [](std::size_t count) {
    return base::format_plural(count, "operation is called ", "operations are called ");
  };
  if (more == 0) return "  " + called(less) + "less often\n";
  std::string text = "  " + called(more) + "more often";
  if (less > 0) text += ", " + base::format_count(less) + " less often";
  return text + "\n";
}

// What a table of centres does not say: some calls got slower, or calls went to another level, or
// they need more memory. The largest few.
std::string also_changed(const Comparison& comparison, std::size_t width) {
  constexpr std::size_t kMost = 5;
  std::string text;
  std::size_t more = 0;
  std::size_t shown = 0;
  for (const OperationChange& change : comparison.operations) {
    const std::string words = beside_the_centre(change, comparison.threshold_pct);
    if (words.empty()) continue;
    if (++shown > kMost) {
      ++more;
    } else {
      const std::string name = base::fit_qualified(change.label(), 48);
      text += wrapped(name + ": " + words, "    ", width);
    }
  }
  if (text.empty()) return {};
  if (more > 0) text += fmt::format("    … {} more in --json\n", more);
  return "\n  Other changes:\n" + text;
}

std::string memory_line(const Comparison& comparison) {
  if (!comparison.base_peak_bytes || !comparison.current_peak_bytes) return {};
  std::string text =
      fmt::format("  peak device memory: {} before, {} now",
                  base::format_bytes(static_cast<double>(*comparison.base_peak_bytes)),
                  base::format_bytes(static_cast<double>(*comparison.current_peak_bytes)));
  if (const auto pct = peak_change_pct(comparison))
    text += fmt::format(" ({})", percent_text(*pct));
  return text + "\n";
}

std::string left_out_line(const Comparison& comparison) {
  const std::string words = left_out_text(comparison.left_out);
  return words.empty() ? words : "  " + words + "\n";
}

// A paragraph of its own; nothing where there are no words.
std::string paragraph(const std::string& words, std::size_t width) {
  return words.empty() ? words : "\n" + wrapped(words, "  ", width);
}

}  // namespace

std::string change_table(const std::vector<const OperationChange*>& changes, std::size_t width) {
  const bool is_wide = width >= kWideColumns;
  std::vector<std::string> header = {"operation", "calls", "before", "now", "change"};
  if (is_wide) header.emplace_back("95 % interval");
  header.insert(header.end(), {"self time change", "verdict"});
  base::Table table(header);
  const auto time = [](std::optional<double> ns) { return ns ? format_duration(*ns) : ""; };
  for (const OperationChange* change : changes) {
    const compare::Verdict& verdict = change->verdict;
    std::vector<std::string> row = {
        (change->is_by_structure ? "GPU work of " : "") + change->label(), calls_text(*change),
        time(change->base_ns), time(change->current_ns),
        verdict.change_pct ? percent_text(*verdict.change_pct) : ""};
    if (is_wide) row.push_back(interval_text(verdict));
    row.insert(row.end(), {duration_text(change->self_change_ns()), verdict_word(verdict)});
    table.row(row);
  }
  return table.empty() ? std::string() : table.text(width);
}

std::string to_text(const ComparisonReport& report, std::size_t top, std::size_t width) {
  const Comparison& comparison = report.comparison;
  const std::string runs = base::format_plural(comparison.base_runs, "run", "runs") + " and " +
                           base::format_plural(comparison.current_runs, "run", "runs");
  std::string text =
      fmt::format("\n  {} → {} · {} · {:.0f} % of the time in both\n\n", side_label(report.base),
                  side_label(report.current), runs, comparison.matched_pct);
  return text + wrapped(story(comparison), "  ", width) + operation_table(comparison, top, width) +
         paragraph(counts(comparison), width) + call_counts(comparison) +
         left_out_line(comparison) + memory_line(comparison) + also_changed(comparison, width) +
         paragraph(advice(comparison), width) + "\n";
}

}  // namespace fathom::report
