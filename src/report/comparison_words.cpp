#include "report/comparison_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "analyze/critical_path/runtime_calls.h"
#include "base/format.h"
#include "base/printable.h"
#include "fathom/figures.h"
#include "report/comparison_report.h"
#include "trace/framework_names.h"

namespace fathom::report {
namespace {

using base::format_duration;

std::string with_sign(double value, const std::string& size) {
  return (value < 0 ? "−" : "+") + size;
}

std::string percent_number(double pct) {
  const double rounded = std::round(pct * 10) / 10;
  return with_sign(rounded, base::format_decimal(std::abs(rounded), 1));
}

std::string whole_text(const Comparison& comparison) {
  if (!comparison.whole || !comparison.whole->base_ns || !comparison.whole->current_ns) return {};
  const OperationChange& whole = *comparison.whole;
  std::string verdict;
  if (whole.verdict.type == ChangeType::regression) verdict = ", slower";
  if (whole.verdict.type == ChangeType::improvement) verdict = ", faster";
  return fmt::format("{} took {} before and {} now ({}{}).",
                     comparison.is_per_step ? "A step" : "The run", format_duration(*whole.base_ns),
                     format_duration(*whole.current_ns), percent_text(*whole.verdict.change_pct),
                     verdict);
}

// Names that a framework gives, in words.
std::string meaning_of(const OperationChange& change) {
  return change.name.starts_with(trace::kDataLoader) ? ", the data loading" : "";
}

// One run per side proves nothing, and what it shows has a sign all the same.
bool is_faster(const Comparison& comparison) {
  if (!comparison.whole) return false;
  const compare::Verdict& verdict = comparison.whole->verdict;
  if (verdict.type == ChangeType::improvement) return true;
  return verdict.type == ChangeType::inconclusive && verdict.change_pct &&
         *verdict.change_pct <= -comparison.threshold_pct;
}

// A call that waits for the GPU takes less when the GPU does: that is no cause.
bool is_wait(const OperationChange& change) {
  return change.kind == trace::SpanKind::sync ||
         (change.kind == trace::SpanKind::runtime_call &&
          analyze::is_sync(analyze::call_role(change.name)));
}

// What the sentence names: of a run that got faster what made it so, else the largest difference. A
// step is what its operations are: it explains nothing.
const OperationChange* largest_part(const Comparison& comparison) {
  const OperationChange* largest = nullptr;
  for (const OperationChange& change : comparison.operations) {
    if (change.name == compare::kStepOperation) continue;
    if (largest == nullptr) largest = &change;
    if (!is_faster(comparison)) break;
    if (change.self_change_ns() < 0 && !is_wait(change)) return &change;
  }
  return largest;
}

std::string largest_text(const Comparison& comparison) {
  const OperationChange* largest = largest_part(comparison);
  if (largest == nullptr) return {};
  if (largest->self_change_ns() == 0) return "All operations took the same time.";
  const bool is_noise = largest->verdict.type == ChangeType::inconclusive &&
                        !largest->verdict.is_suspect && largest->verdict.change_pct;
  const bool is_gain = is_faster(comparison) && largest->self_change_ns() < 0;
  return fmt::format(
      "{} {}{}{}: {} of {}{}.", is_gain ? "The largest gain is" : "The largest difference is",
      largest->is_by_structure ? "the GPU work of " : "", base::fit_qualified(largest->label(), 60),
      meaning_of(*largest), duration_text(largest->self_change_ns()),
      comparison.is_per_step ? "each step" : "the run", is_noise ? ", which may be chance" : "");
}

// A run that was cut off at a time, and not at an amount of work, hides a slowdown: it took as long
// and did less.
std::string work_text(const Comparison& comparison) {
  constexpr double kNearlyAll = 0.8;
  std::vector<std::pair<double, double>> ratios;  // of calls, and the time in it
  double all = 0;
  for (const OperationChange& change : comparison.operations) {
    if (change.base_calls < 10 || change.current_calls < 10) continue;  // one call more is much
    ratios.emplace_back(change.current_calls / change.base_calls, change.base_self_ns);
    all += change.base_self_ns;
  }
  if (ratios.size() < 5) return {};
  std::ranges::sort(ratios);
  const double middle = ratios[ratios.size() / 2].first;
  double near = 0;
  for (const auto& [ratio, ns] : ratios) near += std::abs(ratio - middle) < 0.03 ? ns : 0;
  const double pct = (middle - 1) * 100;
  if (std::abs(pct) < comparison.threshold_pct || near < kNearlyAll * all) return {};
  return fmt::format(" Nearly every operation is called {:.0f} % {} often: {} work was done.",
                     std::abs(pct), pct > 0 ? "more" : "less", pct > 0 ? "more" : "less");
}

// Where the sentence before is about a gain, or a change common to all, what got slower must be
// said too. `mentioned` is the operation that it named.
std::string slower_text(const Comparison& comparison, const OperationChange* mentioned) {
  const std::size_t count = comparison.count(ChangeType::regression);
  if (count == 0) return {};
  const OperationChange* first = comparison.regressions(1).front();
  if (first == mentioned) return {};
  return fmt::format(" {} got slower{} {} ({}).",
                     base::format_plural(count, "operation", "operations"),
                     count == 1 ? ":" : ", most of all", base::fit_qualified(first->label(), 60),
                     percent_text(*first->verdict.change_pct));
}

// No clock differs by half: beyond that, the cause is another.
std::string common_text(double shift_pct) {
  constexpr double kMostOfClocks = 30;
  return fmt::format("Nearly every operation changed by {}{}.", percent_text(shift_pct),
                     std::abs(shift_pct) <= kMostOfClocks ? ": usually clocks, not code" : "");
}

std::string shapes_text(const compare::CallSubset& which) {
  if (which.base_shape.empty()) return {};
  return fmt::format("worked on {} before and on {} now", which.base_shape, which.current_shape);
}

std::string tail_text(const OperationChange& change) {
  if (change.is_mix_changed()) {
    return fmt::format("{:.0f} % of the calls on the slower of two levels before, {:.0f} % now",
                       *change.base_slow_share * 100, *change.current_slow_share * 100);
  }
  if (!change.verdict.is_tail_changed) return {};
  std::string text =
      fmt::format("mean {} (tail included)", percent_text(*change.verdict.mean_change_pct));
  if (change.base_p95_ns && change.current_p95_ns) {
    text += fmt::format("; p95 {} → {}", format_duration(*change.base_p95_ns),
                        format_duration(*change.current_p95_ns));
  }
  return text;
}

std::string memory_text(const OperationChange& change, double threshold_pct) {
  if (!change.base_memory_bytes || !change.current_memory_bytes) return {};
  const double difference = *change.current_memory_bytes - *change.base_memory_bytes;
  if (std::abs(difference) < std::max(kBytesPerMb, *change.base_memory_bytes * threshold_pct / 100))
    return {};
  return fmt::format("{:.1f} MB → {:.1f} MB of device memory", mb_of(*change.base_memory_bytes),
                     mb_of(*change.current_memory_bytes));
}

}  // namespace

std::string side_label(const std::vector<std::string>& files) {
  const std::string first =
      base::printable(std::filesystem::path(files.front()).filename().string());
  return files.size() == 1 ? first : fmt::format("{} and {} more", first, files.size() - 1);
}

std::string percent_text(double pct) {
  return percent_number(pct) + " %";
}

std::string duration_text(double ns) {
  return with_sign(ns, format_duration(std::abs(ns)));
}

std::string interval_text(const compare::Verdict& verdict) {
  if (!verdict.low_pct || !verdict.high_pct) return {};
  return percent_number(*verdict.low_pct) + " … " + percent_number(*verdict.high_pct);
}

std::string calls_text(const OperationChange& change) {
  const auto count = [](double calls) {
    return calls >= 100 || calls == std::floor(calls)
               ? base::format_count(static_cast<std::uint64_t>(std::llround(calls)))
               : fmt::format("{:.1f}", calls);
  };
  const std::string before = count(change.base_calls);
  const std::string now = count(change.current_calls);
  return before == now ? before : before + " → " + now;
}

std::string verdict_word(const compare::Verdict& verdict) {
  if (verdict.is_suspect) return "suspect";
  static constexpr std::array<const char*, 7> kWords = {"faster", "SLOWER",       "same",    "new",
                                                        "gone",   "inconclusive", "unstable"};
  return kWords[static_cast<std::size_t>(verdict.type)];
}

std::string story(const Comparison& comparison) {
  if (comparison.is_base_empty && comparison.is_current_empty) {
    const std::string whole = whole_text(comparison);
    return whole.empty() ? "There are no operations on either side, so there is nothing to compare."
                         : whole + " There are no operations on either side.";
  }
  if (comparison.is_base_empty || comparison.is_current_empty) {
    return fmt::format("There are no operations in the {}, so there is nothing to compare.",
                       comparison.is_base_empty ? "runs before" : "runs now");
  }
  if (comparison.outcome == ComparisonOutcome::not_comparable) {
    return fmt::format(
        "These are not runs of one program: only {:.0f} % of the time is in operations that both "
        "sides have.",
        comparison.matched_pct);
  }
  const std::string whole = whole_text(comparison);
  const std::string part =
      comparison.common_shift_pct
          ? common_text(*comparison.common_shift_pct) + slower_text(comparison, nullptr)
          : largest_text(comparison) + slower_text(comparison, largest_part(comparison));
  return whole + (whole.empty() || part.empty() ? "" : " ") + part + work_text(comparison);
}

std::string counts(const Comparison& comparison) {
  std::string text;
  const auto add = [&](std::size_t count, const char* word) {
    if (count == 0) return;
    text += (text.empty() ? "" : " · ") + fmt::format("{} {}", base::format_count(count), word);
  };
  const std::size_t suspects = comparison.suspects();
  add(comparison.count(ChangeType::regression), "slower");
  add(comparison.count(ChangeType::improvement), "faster");
  add(suspects, "suspect");
  add(comparison.count(ChangeType::no_change), "the same");
  add(comparison.count(ChangeType::added), "new");
  add(comparison.count(ChangeType::removed), "gone");
  add(comparison.count(ChangeType::unstable), "unstable");
  add(comparison.count(ChangeType::inconclusive) - suspects, "inconclusive");
  return text;
}

std::string left_out_text(std::size_t count) {
  if (count == 0) return {};
  return base::format_plural(count, "operation", "operations") + " below 0.01 % of the time " +
         (count == 1 ? "is left out; --all shows it" : "are left out; --all shows them");
}

std::string advice(const Comparison& comparison) {
  const bool is_nothing = comparison.operations.empty() && !comparison.whole;
  if (is_nothing || comparison.outcome == ComparisonOutcome::not_comparable) {
    return {};  // more runs of two different programs would not help
  }
  if (comparison.base_runs == 1 || comparison.current_runs == 1) {
    return "A single run on either side proves nothing. Record several: fathom compare --repeat 5 "
           "-- BEFORE ::: NOW";
  }
  std::string text;
  if (comparison.outcome == ComparisonOutcome::inconclusive) {
    const OperationChange& first = *comparison.open_questions().front();
    text = fmt::format("These runs do not show whether {} got slower ({}). ",
                       base::fit_qualified(first.label(), 60),
                       percent_text(*first.verdict.change_pct));
  }
  std::uint32_t needed = 0;
  for (const OperationChange& change : comparison.operations) {
    needed = std::max(needed, change.verdict.runs_needed.value_or(0));
  }
  if (needed == 0) return text;
  return text +
         fmt::format("About {} runs per side would decide what is inconclusive now.", needed);
}

std::string beside_the_centre(const OperationChange& change, double threshold_pct) {
  std::string text;
  for (const std::string& words :
       {shapes_text(change.which), tail_text(change), memory_text(change, threshold_pct)}) {
    if (words.empty()) continue;
    text += (text.empty() ? "" : "; ") + words;
  }
  return text;
}

std::optional<double> peak_change_pct(const Comparison& comparison) {
  if (!comparison.base_peak_bytes || !comparison.current_peak_bytes) return std::nullopt;
  if (*comparison.base_peak_bytes <= 0) return std::nullopt;
  return (static_cast<double>(*comparison.current_peak_bytes) /
              static_cast<double>(*comparison.base_peak_bytes) -
          1) *
         100;
}

}  // namespace fathom::report
