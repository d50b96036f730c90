// How often the verdicts are wrong, on simulated programs of 50 operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/noise.h"
#include "compare/verdict.h"
#include "sanitized.h"

namespace fathom::compare::simulation_test {

constexpr std::size_t kOperations = 50;
constexpr int kOneIn = kIsSanitized ? 10 : 1;  // the same code in a tenth of five minutes

std::vector<Sample> samples(const NoisyOperation& operation, std::size_t runs, std::size_t calls,
                            double factor, std::mt19937_64& random) {
  std::vector<Sample> all;
  for (std::size_t i = 0; i < runs; ++i)
    all.push_back(sample_of(run_of(operation, calls, factor, random)));
  return all;
}

struct Rates {
  double false_alarms = 0;       // comparisons of a program with itself that call any change
  double false_alarms_mean = 0;  // the same for the rule "the means differ by 5 %"
  double power = 0;              // slowed operations with one mode that are called regressions
  double power_overall = 0;      // the same of all
};

bool is_change(const Verdict& verdict) {
  return verdict.type == ChangeType::regression || verdict.type == ChangeType::improvement;
}

double mean_ns(const std::vector<Sample>& runs) {
  double total = 0;
  double calls = 0;
  for (const Sample& run : runs) {
    total += run.total_ns;
    calls += static_cast<double>(run.calls);
  }
  return total / calls;
}

// Compares a program with itself, and with a program of which every tenth operation is slower.
Rates simulate(std::size_t runs, int all_comparisons, std::uint64_t seed, std::size_t calls = 30) {
  const int comparisons = all_comparisons / kOneIn;
  std::mt19937_64 random(seed);
  int alarmed = 0;
  int alarmed_mean = 0;
  int slowed = 0;
  int found = 0;
  int slowed_overall = 0;
  int found_overall = 0;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    std::vector<OperationRuns> same;
    std::vector<OperationRuns> slower;
    std::vector<bool> is_slowed;
    bool means_differ = false;
    for (std::size_t i = 0; i < kOperations; ++i) {
      const NoisyOperation operation = random_operation(random);
      const std::vector<Sample> base = samples(operation, runs, calls, 1, random);
      same.push_back({base, samples(operation, runs, calls, 1, random)});
      means_differ |= std::abs(mean_ns(same.back().current) / mean_ns(base) - 1) > 0.05;
      const bool slow = i % 10 == 0;
      is_slowed.push_back(slow && operation.second_mode == 0);
      slower.push_back({base, samples(operation, runs, calls, slow ? 1.10 : 1.0, random)});
    }
    const std::vector<Verdict> quiet = verdicts(same, {});
    alarmed += std::ranges::any_of(quiet, is_change) ? 1 : 0;
    alarmed_mean += means_differ ? 1 : 0;
    const std::vector<Verdict> loud = verdicts(slower, {});
    for (std::size_t i = 0; i < kOperations; ++i) {
      if (i % 10 == 0) {
        ++slowed_overall;
        found_overall += loud[i].type == ChangeType::regression ? 1 : 0;
      }
      if (!is_slowed[i]) continue;
      ++slowed;
      found += loud[i].type == ChangeType::regression ? 1 : 0;
    }
  }
  return {static_cast<double>(alarmed) / comparisons,
          static_cast<double>(alarmed_mean) / comparisons, static_cast<double>(found) / slowed,
          static_cast<double>(found_overall) / slowed_overall};
}

TEST(Simulation, FiveRunsPerSideGateWell) {
  const Rates rates = simulate(5, 1000, 20261115);
  RecordProperty("false_alarms", std::to_string(rates.false_alarms));
  RecordProperty("false_alarms_mean", std::to_string(rates.false_alarms_mean));
  RecordProperty("power", std::to_string(rates.power));
  EXPECT_LE(rates.false_alarms, 0.015);
  EXPECT_GE(rates.power, 0.95);
  EXPECT_GE(rates.false_alarms_mean, 0.5);  // what two means would have said
}

TEST(Simulation, AHundredCallsShowOperationsOfTwoLevelsToo) {
  const Rates rates = simulate(5, 300, 100, 100);
  RecordProperty("false_alarms", std::to_string(rates.false_alarms));
  RecordProperty("power", std::to_string(rates.power));
  RecordProperty("power_overall", std::to_string(rates.power_overall));
  EXPECT_LE(rates.false_alarms, 0.015);
  EXPECT_GE(rates.power, 0.95);
  EXPECT_GE(rates.power_overall, 0.9);
}

TEST(Simulation, ThreeRunsPerSideAdvise) {
  const Rates rates = simulate(3, 1000, 8);
  RecordProperty("false_alarms", std::to_string(rates.false_alarms));
  RecordProperty("false_alarms_mean", std::to_string(rates.false_alarms_mean));
  RecordProperty("power", std::to_string(rates.power));
  EXPECT_LE(rates.false_alarms, 0.04);
  EXPECT_GE(rates.power, 0.75);
}

TEST(Simulation, OneRunPerSideCallsNothing) {
  EXPECT_EQ(simulate(1, 100, 3).false_alarms, 0);
}

}  // namespace fathom::compare::simulation_test
