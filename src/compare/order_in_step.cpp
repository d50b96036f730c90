#include "compare/order_in_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/parts.h"

namespace fathom::compare {
namespace {

constexpr std::size_t kMostCalls = 32;
constexpr double kExplained = 0.8;  // of the variance, by the order of calls

// How often a site is called in every step; absent where steps differ, or some calls are in none.
std::optional<std::size_t> calls_a_step(const CallSite& site) {
  if (site.steps.size() < 2) return std::nullopt;
  const std::size_t count = site.steps[1].first;
  for (std::size_t i = 0; i < site.steps.size(); ++i) {
    const StepCalls& step = site.steps[i];
    const bool is_after = i == 0 || step.step > site.steps[i - 1].step;
    if (step.step == kNoStep || step.first != i * count || !is_after) return std::nullopt;
  }
  if (site.ns.size() != site.steps.size() * count) return std::nullopt;
  return count;
}

bool is_ordered(const CallSite& site, std::size_t count) {
  const auto log_of = [&](std::size_t i) {
    return std::log(static_cast<double>(std::max<std::int64_t>(site.ns[i], 1)));
  };
  std::vector<double> levels(count);
  for (std::size_t i = 0; i < site.ns.size(); ++i) levels[i % count] += log_of(i);
  double mean = 0;
  for (double& level : levels) {
    level /= static_cast<double>(site.ns.size() / count);
    mean += level / static_cast<double>(count);
  }
  double all = 0;
  double within = 0;
  for (std::size_t i = 0; i < site.ns.size(); ++i) {
    const double value = log_of(i);
    all += (value - mean) * (value - mean);
    within += (value - levels[i % count]) * (value - levels[i % count]);
  }
  const auto [lowest, highest] = std::ranges::minmax(levels);
  return highest - lowest > kOtherLevel && within <= (1 - kExplained) * all;
}

}  // namespace

std::optional<std::size_t> ordered_calls(std::span<const CallSite* const> sites) {
  std::optional<std::size_t> count;
  for (const CallSite* site : sites) {
    const std::optional<std::size_t> here = calls_a_step(*site);
    if (!here || *here < 2 || *here > kMostCalls || (count && *count != *here)) return {};
    if (!is_ordered(*site, *here)) return {};
    count = here;
  }
  return count;
}

}  // namespace fathom::compare
