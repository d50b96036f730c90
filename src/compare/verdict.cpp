#include "compare/verdict.h"

#include <algorithm>
#include <cmath>

#include "compare/moderated_t.h"

namespace fathom::compare {
namespace {

// Of the changes that are reported, the share that may be false alarms: q of Benjamini and
// Hochberg, so the number of operations is corrected for.
constexpr double kFalseDiscoveryRate = 0.01;
// Chance is ruled out where coins fall that way less often than this: for one operation alone.
constexpr double kUnlikelyTosses = 0.01;
constexpr double kConfidence = 0.95;
constexpr double kLikeTheJump = 0.3;
constexpr std::uint32_t kMostRuns = 30;  // more would not help anybody

double percent(double log_ratio) {
  return std::expm1(log_ratio) * 100;
}

double mean_centre(std::span<const Sample> runs) {
  double sum = 0;
  for (const Sample& run : runs) sum += run.log_centre;
  return sum / static_cast<double>(runs.size());
}

double squares(std::span<const Sample> runs) {
  const double mean = mean_centre(runs);
  double sum = 0;
  for (const Sample& run : runs) sum += (run.log_centre - mean) * (run.log_centre - mean);
  return sum;
}

double mean_call_ns(std::span<const Sample> runs) {
  double total = 0;
  double calls = 0;
  for (const Sample& run : runs) {
    total += run.total_ns;
    calls += static_cast<double>(run.calls);
  }
  return total / calls;
}

// How far apart the two sides' runs lie, and how wide either side is at most.
struct Ranges {
  double gap = 0;  // below 0 where they overlap
  double width = 0;
};

Ranges ranges_of(const OperationRuns& runs) {
  const auto centre = [](const Sample& sample) { return sample.log_centre; };
  const auto base = std::ranges::minmax(runs.base, {}, centre);
  const auto current = std::ranges::minmax(runs.current, {}, centre);
  return {std::max(current.min.log_centre - base.max.log_centre,
                   base.min.log_centre - current.max.log_centre),
          std::max(base.max.log_centre - base.min.log_centre,
                   current.max.log_centre - current.min.log_centre)};
}

// The widest jump between levels that any run shows; 0 where none does.
double mode_distance(const OperationRuns& runs) {
  double widest = 0;
  for (const auto* side : {&runs.base, &runs.current}) {
    for (const Sample& run : *side) {
      if (run.modes) widest = std::max(widest, run.modes->log_distance);
    }
  }
  return widest;
}

bool all_show_levels(const OperationRuns& runs) {
  const auto has_levels = [](const Sample& run) { return run.modes.has_value(); };
  return std::ranges::all_of(runs.base, has_levels) &&
         std::ranges::all_of(runs.current, has_levels);
}

// Whether all runs of one side may have fallen on one level and all of the other side on the other,
// by chance: each does so as a coin falls, and the change is then as large as the jump.
bool may_be_a_jump(const OperationRuns& runs, double change) {
  const double jump = mode_distance(runs);
  const int tosses = static_cast<int>(runs.base.size() + runs.current.size());
  return jump > 0 && std::abs(std::abs(change) - jump) <= kLikeTheJump * jump &&
         std::ldexp(2.0, -tosses) > kUnlikelyTosses;
}

bool is_on_both_sides(const OperationRuns& runs) {
  return !runs.base.empty() && !runs.current.empty();
}

double degrees_of(const OperationRuns& runs) {
  return static_cast<double>(runs.base.size() + runs.current.size()) - 2;
}

double error_of_difference(double variance, const OperationRuns& runs) {
  return std::sqrt(variance * (1 / static_cast<double>(runs.base.size()) +
                               1 / static_cast<double>(runs.current.size())));
}

// The prior of all operations that were measured as often as this one, for a variance of few runs
// is known to another degree than one of many.
class Priors {
 public:
  explicit Priors(std::span<const OperationRuns> operations) {
    for (const OperationRuns& runs : operations) {
      if (!is_on_both_sides(runs) || degrees_of(runs) < 1) continue;
      most_ = std::max(most_, degrees_of(runs));
    }
    std::vector<double> variances;
    for (const OperationRuns& runs : operations) {
      if (is_on_both_sides(runs) && degrees_of(runs) == most_) {
        variances.push_back((squares(runs.base) + squares(runs.current)) / most_);
      }
    }
    prior_ = fit_prior(variances, most_);
  }

  Estimate difference(const OperationRuns& runs) const {
    const double degrees = degrees_of(runs);
    const double own = squares(runs.base) + squares(runs.current);
    const double known = prior_.degrees;
    double variance = prior_.variance;
    if (std::isfinite(known)) variance = (known * prior_.variance + own) / (known + degrees);
    return {mean_centre(runs.current) - mean_centre(runs.base),
            error_of_difference(std::max(variance, 1e-10), runs), known + degrees};
  }

 private:
  double most_ = 0;
  VariancePrior prior_;
};

// Of the mean centre of a side: the calls tell how well each centre is known, and how runs differ
// is assumed where the runs do not tell.
double single_variance(const std::vector<Sample>& side, double run_sd) {
  const auto runs = static_cast<double>(side.size());
  const double seen = side.size() > 1 ? squares(side) / (runs - 1) : 0;
  double of_calls = 0;
  for (const Sample& run : side) {
    const double sd = run.log_centre_sd.value_or(0.05);  // too few calls to tell: a guess, wide
    of_calls += sd * sd;
  }
  return std::max(run_sd * run_sd, seen) / runs + of_calls / (runs * runs);
}

// Where one side has it in one run only.
Estimate single_difference(const OperationRuns& runs, double run_sd) {
  std::uint64_t calls = UINT64_MAX;
  for (const auto* side : {&runs.base, &runs.current}) {
    for (const Sample& run : *side) calls = std::min<std::uint64_t>(calls, run.calls);
  }
  return {mean_centre(runs.current) - mean_centre(runs.base),
          std::sqrt(single_variance(runs.base, run_sd) + single_variance(runs.current, run_sd)),
          std::max(static_cast<double>(calls) - 1, 1.0)};
}

// Whether a side has one run, whatever that of an operation: some operation is in all of them.
bool has_single_side(std::span<const OperationRuns> operations) {
  std::size_t base = 0;
  std::size_t current = 0;
  for (const OperationRuns& runs : operations) {
    base = std::max(base, runs.base.size());
    current = std::max(current, runs.current.size());
  }
  return base == 1 || current == 1;
}

// How many runs per side would make the interval narrow enough to lie on one side of the threshold.
std::optional<std::uint32_t> runs_needed(const Estimate& estimate, std::size_t runs,
                                         double threshold) {
  const double room = std::abs(std::abs(estimate.value) - threshold);
  if (room <= 0) return std::nullopt;
  const double now = half_width(estimate, kConfidence);
  const double needed = std::ceil(static_cast<double>(runs) * (now / room) * (now / room));
  if (needed > kMostRuns) return std::nullopt;
  return std::max<std::uint32_t>(static_cast<std::uint32_t>(needed),
                                 std::max<std::uint32_t>(static_cast<std::uint32_t>(runs) + 1, 3));
}

struct Judged {
  Estimate difference;
  double p_value = 1;           // adjusted
  bool is_single = false;       // one run of a side has it
  bool is_single_side = false;  // and that side has no other run
};

// The log ratio of the means of a call; absent where calls took no time.
std::optional<double> mean_change(const OperationRuns& runs) {
  const double base = mean_call_ns(runs.base);
  const double current = mean_call_ns(runs.current);
  if (base <= 0 || current <= 0) return std::nullopt;
  return std::log(current / base);
}

// A single slow call moves a mean: it counts where the runs agree, or, with one run per side, where
// it is twice the threshold.
bool has_tail_changed(const OperationRuns& runs, double mean, double centre, double threshold) {
  const bool is_single = runs.base.size() == 1 || runs.current.size() == 1;
  const double least = is_single ? 2 * threshold : threshold;
  if (std::abs(mean) < least || std::abs(mean - centre) < least) return false;
  if (mean * centre > 0 && std::abs(mean) < 2 * std::abs(centre)) return false;  // it says the same
  const auto mean_of = [](const Sample& run) {
    return run.total_ns / static_cast<double>(run.calls);
  };
  const auto base = std::ranges::minmax(runs.base, {}, mean_of);
  const auto current = std::ranges::minmax(runs.current, {}, mean_of);
  return mean_of(current.min) > mean_of(base.max) || mean_of(base.min) > mean_of(current.max);
}

ChangeType type_of(const OperationRuns& runs, const Judged& judged, double low, double high,
                   const Settings& settings) {
  const double change = judged.difference.value;
  const double worse = std::log1p(settings.threshold_pct / 100);
  const double better = std::log1p(-std::min(settings.threshold_pct, 99.0) / 100);
  const Ranges ranges = ranges_of(runs);
  const bool is_large = change >= worse || change <= better;
  const bool is_proven = judged.p_value <= kFalseDiscoveryRate && ranges.gap > 0;
  // Where every run shows both levels, none can have fallen on one of them by chance.
  const bool may_jump = !all_show_levels(runs);
  const bool threshold_decides = judged.is_single_side && settings.single_run_decides;
  if (may_jump && is_large && !(is_proven && ranges.gap > ranges.width) &&
      mode_distance(runs) > std::abs(change) / 1.5) {
    return ChangeType::unstable;
  }
  if (may_jump && is_large && may_be_a_jump(runs, change)) return ChangeType::unstable;
  if (is_large && ((is_proven && !judged.is_single) || threshold_decides)) {
    return change > 0 ? ChangeType::regression : ChangeType::improvement;
  }
  if (low > better && high < worse) return ChangeType::no_change;
  return ChangeType::inconclusive;
}

Verdict verdict_of(const OperationRuns& runs, const Judged& judged, const Settings& settings) {
  const double half = half_width(judged.difference, kConfidence);
  const double low = judged.difference.value - half;
  const double high = judged.difference.value + half;
  const double worse = std::log1p(settings.threshold_pct / 100);
  Verdict verdict;
  verdict.change_pct = percent(judged.difference.value);
  verdict.low_pct = percent(low);
  verdict.high_pct = percent(high);
  verdict.is_significant = judged.p_value <= kFalseDiscoveryRate && ranges_of(runs).gap > 0;
  verdict.type = type_of(runs, judged, low, high, settings);
  if (const std::optional<double> mean = mean_change(runs)) {
    verdict.mean_change_pct = percent(*mean);
    verdict.is_tail_changed = has_tail_changed(runs, *mean, judged.difference.value, worse);
  }
  verdict.is_suspect = judged.is_single_side && verdict.type == ChangeType::inconclusive &&
                       verdict.is_significant &&
                       std::abs(*verdict.change_pct) >= settings.threshold_pct;
  if (verdict.type == ChangeType::inconclusive) {
    verdict.runs_needed =
        runs_needed(judged.difference, std::min(runs.base.size(), runs.current.size()), worse);
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> verdicts(std::span<const OperationRuns> operations, const Settings& settings) {
  const Priors priors(operations);
  const bool is_single_side = has_single_side(operations);
  std::vector<Judged> judged(operations.size());
  std::vector<double> p_values;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const OperationRuns& runs = operations[i];
    if (!is_on_both_sides(runs)) continue;
    judged[i].is_single = runs.base.size() == 1 || runs.current.size() == 1;
    judged[i].is_single_side = judged[i].is_single && is_single_side;
    judged[i].difference = judged[i].is_single ? single_difference(runs, settings.assumed_run_sd)
                                               : priors.difference(runs);
    p_values.push_back(p_value(judged[i].difference));
  }
  const std::vector<double> adjusted = adjust_p_values(p_values);
  std::vector<Verdict> all(operations.size());
  auto next = adjusted.begin();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (is_on_both_sides(operations[i])) {
      judged[i].p_value = *next++;
      all[i] = verdict_of(operations[i], judged[i], settings);
    } else {
      all[i].type = operations[i].base.empty() ? ChangeType::added : ChangeType::removed;
    }
  }
  return all;
}

std::optional<double> common_shift_pct(std::span<const Verdict> verdicts) {
  constexpr std::size_t kLeastOperations = 5;
  constexpr double kNearlyAll = 0.8;
  std::vector<double> changes;
  for (const Verdict& verdict : verdicts) {
    if (verdict.change_pct) changes.push_back(*verdict.change_pct);
  }
  if (changes.size() < kLeastOperations) return std::nullopt;
  std::ranges::sort(changes);
  const double middle = changes[changes.size() / 2];
  const double tolerance = std::max(0.5, std::abs(middle) / 4);
  const auto near = std::ranges::count_if(
      changes, [&](double change) { return std::abs(change - middle) <= tolerance; });
  if (std::abs(middle) < 1 ||
      static_cast<double>(near) < kNearlyAll * static_cast<double>(changes.size())) {
    return std::nullopt;
  }
  return middle;
}

}  // namespace fathom::compare
