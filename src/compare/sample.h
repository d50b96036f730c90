#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fathom::compare {

// Two levels that an operation's times jump between, as with a clock that steps or a cache that is
// sometimes cold.
struct Modes {
  double log_distance = 0;  // between their means
  double slow_share = 0;    // of the calls, on the upper level
};

// The times of one operation in one run, brought down to what a comparison needs. Centres are
// logarithms of nanoseconds, so that a difference is a ratio.
struct Sample {
  std::uint64_t calls = 0;
  double total_ns = 0;

  // Mean of the log times between the 5th and the 50th percentile, of the lower level where there
  // are two: where the operation runs undisturbed. Whatever delays some calls (spikes, preemption,
  // a slow tail) is above it.
  double log_centre = 0;

  // Standard deviation of `log_centre` as this run alone can tell it, widened for the dependence of
  // a call's time on that of the call before it. It says nothing of how runs differ. Of fewer
  // than 8 calls, their plain spread, and 5 % at least; absent for a single one.
  std::optional<double> log_centre_sd;

  // The log times from the shortest to the longest: of few calls each, of many 64 that stand for
  // equal shares of them. Empty where only figures are known.
  std::vector<float> log_quantiles;

  double trimmed_mean_ns = 0;  // without the lowest and the highest fifth
  double p95_ns = 0;
  // When there are two, more than 4 σ apart, with a seventh of the calls on the lower and, because
  // the longest of them may be spikes, two ninths on the upper.
  std::optional<Modes> modes;
};

// At least one call, in order. Where calls of several places were put one behind the other, `sites`
// says where each begins: only within one does a call follow another.
Sample sample_of(std::span<const std::int64_t> ns, std::span<const std::size_t> sites = {});

}  // namespace fathom::compare
