#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/format.h"
#include "base/table.h"
#include "report/comparison_report.h"

namespace fathom::report {
namespace {

using base::format_duration;
using compare::ChangeType;
using compare::Comparison;
using compare::OperationChange;
using compare::Outcome;

constexpr std::size_t kWideColumns = 120;  // from here on there is room for intervals

std::string side_name(const std::vector<std::string>& files) {
  const std::string first = std::filesystem::path(files.front()).filename().string();
  return files.size() == 1 ? first : fmt::format("{} and {} more", first, files.size() - 1);
}

std::string signed_percent(double pct) {
  return fmt::format("{:+.1f} %", pct);
}

std::string signed_duration(double ns) {
  return (ns < 0 ? "−" : "+") + format_duration(std::abs(ns));
}

// What happened to the whole, and which operation has most of it.
std::string story(const Comparison& comparison) {
  if (comparison.outcome == Outcome::not_comparable) {
    return fmt::format(
        "  These are not runs of one program: only {:.0f} % of the time is in operations that both "
        "have.\n",
        comparison.matched_pct);
  }
  std::string text;
  if (comparison.whole && comparison.whole->base_ns && comparison.whole->current_ns) {
    const OperationChange& whole = *comparison.whole;
    const char* const what = comparison.is_per_step ? "A step" : "The run";
    text =
        fmt::format("  {} took {} before and {} now ({}).", what, format_duration(*whole.base_ns),
                    format_duration(*whole.current_ns), signed_percent(*whole.verdict.change_pct));
  }
  if (comparison.common_shift_pct) {
    text += fmt::format(" Nearly every operation changed by {}: clocks, not code.",
                        signed_percent(*comparison.common_shift_pct));
  } else if (!comparison.operations.empty()) {
    const OperationChange& first = comparison.operations.front();
    if (std::abs(first.self_change_ns()) > 0) {
      text += fmt::format("{}The largest difference is {}: {} of {}.", text.empty() ? "  " : " ",
                          base::fit(first.name, 60), signed_duration(first.self_change_ns()),
                          comparison.is_per_step ? "each step" : "the run");
    }
  }
  return text + "\n";
}

std::string verdict_word(const OperationChange& change) {
  if (change.verdict.is_suspect) return "suspect";
  switch (change.verdict.type) {
    case ChangeType::improvement:
      return "faster";
    case ChangeType::regression:
      return "SLOWER";
    case ChangeType::no_change:
      return "same";
    case ChangeType::added:
      return "new";
    case ChangeType::removed:
      return "gone";
    case ChangeType::inconclusive:
      return "cannot tell";
    case ChangeType::unstable:
      return "unstable";
  }
  return "";
}

std::string calls_text(const OperationChange& change) {
  const auto count = [](double calls) {
    return calls >= 100 || calls == std::floor(calls) ? base::format_count(std::llround(calls))
                                                      : fmt::format("{:.1f}", calls);
  };
  const std::string before = count(change.base_calls);
  const std::string now = count(change.current_calls);
  return before == now ? before : before + " → " + now;
}

std::string operation_table(const Comparison& comparison, std::size_t top, std::size_t width) {
  const bool is_wide = width >= kWideColumns;
  std::vector<std::string> header = {"operation", "calls", "before", "now", "change"};
  if (is_wide) header.emplace_back("95 % interval");
  header.insert(header.end(), {"self time", "verdict"});
  base::Table table(header);
  const std::size_t shown = std::min(top, comparison.operations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperationChange& change = comparison.operations[i];
    const compare::Verdict& verdict = change.verdict;
    const auto time = [](std::optional<double> ns) { return ns ? format_duration(*ns) : ""; };
    std::vector<std::string> row = {(change.is_by_structure ? "GPU work of " : "") + change.name,
                                    calls_text(change), time(change.base_ns),
                                    time(change.current_ns),
                                    verdict.change_pct ? signed_percent(*verdict.change_pct) : ""};
    if (is_wide) {
      row.push_back(verdict.low_pct
                        ? fmt::format("{:+.1f} … {:+.1f}", *verdict.low_pct, *verdict.high_pct)
                        : "");
    }
    row.insert(row.end(), {signed_duration(change.self_change_ns()), verdict_word(change)});
    table.row(row);
  }
  const std::size_t rest = comparison.operations.size() - shown;
  if (table.empty()) return {};
  std::string text = "\n" + table.text(width);
  if (rest > 0) text += fmt::format("  … {} more (--top {})\n", rest, shown + rest);
  return text;
}

std::string counts(const Comparison& comparison) {
  std::string text = "\n  ";
  const auto add = [&](ChangeType type, const char* word) {
    const std::size_t count = comparison.count(type);
    if (count == 0) return;
    if (text.size() > 3) text += " · ";
    text += fmt::format("{} {}", base::format_count(count), word);
  };
  add(ChangeType::regression, "slower");
  add(ChangeType::improvement, "faster");
  add(ChangeType::no_change, "the same");
  add(ChangeType::added, "new");
  add(ChangeType::removed, "gone");
  add(ChangeType::unstable, "unstable");
  add(ChangeType::inconclusive, "that cannot be told");
  return text.size() > 3 ? text + "\n" : std::string();
}

std::string memory_line(const Comparison& comparison) {
  if (!comparison.base_peak_bytes || !comparison.current_peak_bytes) return {};
  const auto before = static_cast<double>(*comparison.base_peak_bytes);
  const auto now = static_cast<double>(*comparison.current_peak_bytes);
  std::string text = fmt::format("  peak device memory: {} before, {} now",
                                 base::format_bytes(before), base::format_bytes(now));
  if (before > 0) text += fmt::format(" ({})", signed_percent((now / before - 1) * 100));
  return text + "\n";
}

// What would settle what these runs do not.
std::string advice(const Comparison& comparison) {
  if (comparison.base_runs == 1 || comparison.current_runs == 1) {
    return "\n  One run a side can make a change suspect, not prove it: runs of one program "
           "differ. "
           "Record\n  several a side: fathom compare --repeat 5 -- BEFORE ::: NOW\n";
  }
  std::uint32_t needed = 0;
  for (const OperationChange& change : comparison.operations) {
    needed = std::max(needed, change.verdict.runs_needed.value_or(0));
  }
  if (needed == 0) return {};
  return fmt::format("\n  About {} runs a side would settle what cannot be told now.\n", needed);
}

}  // namespace

std::string to_text(const ComparisonReport& report, std::size_t top, std::size_t width) {
  const Comparison& comparison = report.comparison;
  const std::string runs = base::format_plural(comparison.base_runs, "run", "runs") + " and " +
                           base::format_plural(comparison.current_runs, "run", "runs");
  std::string text =
      fmt::format("\n  {} → {} · {} · {:.0f} % of the time in both\n\n", side_name(report.base),
                  side_name(report.current), runs, comparison.matched_pct);
  return text + story(comparison) + operation_table(comparison, top, width) + counts(comparison) +
         memory_line(comparison) + advice(comparison) + "\n";
}

}  // namespace fathom::report
