#include "compare/order_in_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/log_time.h"

namespace fathom::compare {
namespace {

constexpr std::size_t kMostCalls = 32;
constexpr double kExplained = 0.8;  // of the variance, by the order of calls

// How often a site is called in each step that calls it; absent where these differ, or some calls
// are in none.
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

// Each run counts from its own mean, so that runs may differ as a whole.
bool is_ordered(std::span<const CallSite* const> sites, std::size_t count) {
  std::vector<double> levels(count);
  std::vector<double> means;
  double steps = 0;
  for (const CallSite* site : sites) {
    double& mean = means.emplace_back(0);
    for (const std::int64_t ns : site->ns) mean += log_time(ns);
    mean /= static_cast<double>(site->ns.size());
    for (std::size_t i = 0; i < site->ns.size(); ++i) {
      levels[i % count] += log_time(site->ns[i]) - mean;
    }
    steps += static_cast<double>(site->ns.size() / count);
  }
  for (double& level : levels) level /= steps;
  double all = 0;
  double unexplained = 0;
  for (std::size_t run = 0; run < sites.size(); ++run) {
    for (std::size_t i = 0; i < sites[run]->ns.size(); ++i) {
      const double value = log_time(sites[run]->ns[i]) - means[run];
      all += value * value;
      unexplained += (value - levels[i % count]) * (value - levels[i % count]);
    }
  }
  const auto [lowest, highest] = std::ranges::minmax(levels);
  return highest - lowest > kOtherLevel && unexplained <= (1 - kExplained) * all;
}

}  // namespace

std::optional<std::size_t> ordered_calls(std::span<const CallSite* const> sites) {
  std::optional<std::size_t> count;
  for (const CallSite* site : sites) {
    const std::optional<std::size_t> here = calls_a_step(*site);
    if (!here || *here < 2 || *here > kMostCalls || (count && *count != *here)) return {};
    count = here;
  }
  if (!count || !is_ordered(sites, *count)) return {};
  return count;
}

}  // namespace fathom::compare
