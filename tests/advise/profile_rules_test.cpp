#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "advise/suggest.h"
#include "analyze/trace_maker.h"

// The rules for profiles, which have the times of operations and nothing of what waited for what.
namespace fathom::advise::profile_rules_test {

constexpr double kMs = 1e6;

NamedFigures operation(const std::string& name, std::uint64_t calls, double mean_ms) {
  NamedFigures one;
  one.operation = name;
  one.calls = calls;
  one.total_ns = mean_ms * kMs * static_cast<double>(calls);
  return one;
}

Suggestions of(const NamedFigures& one) {
  trace::Trace trace = analyze::TraceMaker().make();
  trace.operations.push_back(one);
  return suggest(trace);
}

bool has(const Suggestions& found, SuggestionType type) {
  return std::any_of(found.list.begin(), found.list.end(),
                     [&](const Suggestion& one) { return one.type == type; });
}

TEST(ProfileRules, ASmallGpuOperationThatIsMostlyOnItsWayGoesToTheCpu) {
  NamedFigures one = operation("add", 5, 0.5);
  one.gpu_ns = 0.3 * kMs;
  one.transfer_ns = 1.5 * kMs;
  EXPECT_TRUE(has(of(one), SuggestionType::routing));
  one.transfer_ns = 0.1 * kMs;
  EXPECT_FALSE(has(of(one), SuggestionType::routing));
}

TEST(ProfileRules, ALongCpuOperationThatMovesMemoryGoesToTheGpu) {
  NamedFigures one = operation("resize", 3, 20);
  EXPECT_FALSE(has(of(one), SuggestionType::routing));
  one.avg_memory_bytes = 12 * kBytesPerMb;
  EXPECT_TRUE(has(of(one), SuggestionType::routing));
}

TEST(ProfileRules, TenCallsWithOverheadAreBatched) {
  NamedFigures one = operation("gemm", 10, 2);
  one.gpu_ns = 18 * kMs;
  one.overhead_ns = 2 * kMs;
  const Suggestions found = of(one);
  ASSERT_TRUE(has(found, SuggestionType::batching));
  EXPECT_EQ(found.list.front().basis, GainBasis::bound);
  EXPECT_NEAR(static_cast<double>(found.list.front().gain->mid_ns), 1.8 * kMs, 1);
  one.calls = 9;
  EXPECT_FALSE(has(of(one), SuggestionType::batching));
}

TEST(ProfileRules, AHundredSmallCallsAreCached) {
  EXPECT_TRUE(has(of(operation("tokenize", 100, 0.2)), SuggestionType::caching));
  EXPECT_FALSE(has(of(operation("tokenize", 99, 0.2)), SuggestionType::caching));
  EXPECT_FALSE(has(of(operation("tokenize", 100, 1.2)), SuggestionType::caching));
}

TEST(ProfileRules, MuchMemoryAndAnIdleGpuAreNamed) {
  NamedFigures one = operation("train", 1, 100);
  one.gpu_ns = 30 * kMs;
  one.peak_memory_bytes = 200 * kBytesPerMb;
  const Suggestions found = of(one);
  EXPECT_TRUE(has(found, SuggestionType::parallelization));
  EXPECT_TRUE(has(found, SuggestionType::memory));
  one.gpu_ns = 60 * kMs;
  one.peak_memory_bytes = 90 * kBytesPerMb;
  EXPECT_TRUE(of(one).list.empty());
}

TEST(ProfileRules, EstimatesSayThatTheyAreBounds) {
  const Suggestions found = of(operation("tokenize", 100, 0.2));
  EXPECT_FALSE(found.has_gains);
  EXPECT_NE(found.why_no_gains.find("bounds"), std::string::npos);
  EXPECT_EQ(found.list.front().expected_improvement.rfind("Saves at most ", 0), 0U);
}

}  // namespace fathom::advise::profile_rules_test
