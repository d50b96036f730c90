#include <fathom/compare.h>
#include <fathom/fathom.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fathom::compare_test {

namespace fs = std::filesystem;

// Fifty calls each of two operations; `moved` takes so many milliseconds.
Summaries run(double moved_ms, double wobble) {
  const auto operation = [&](double ms) {
    OperationFigures figures;
    figures.calls = 50;
    figures.p50_ns = figures.p95_ns = ms * wobble * kNsPerMs;
    figures.total_ns = figures.self_ns = 50 * ms * wobble * kNsPerMs;
    figures.std_dev_ns = ms / 100 * kNsPerMs;
    return figures;
  };
  return {{"steady", operation(10)}, {"moved", operation(moved_ms)}};
}

std::vector<Summaries> runs(double moved_ms) {
  return {run(moved_ms, 0.998), run(moved_ms, 1), run(moved_ms, 1.003)};
}

TEST(CompareProfilingRuns, TellsWhatGotSlowerAndByHowMuch) {
  const RunComparison comparison = compare_profiling_runs(runs(4), runs(5));
  EXPECT_EQ(comparison.summary().regressions, 1U);
  EXPECT_EQ(comparison.summary().unchanged, 1U);
  EXPECT_DOUBLE_EQ(comparison.summary().matched_percent, 100);
  ASSERT_EQ(comparison.regressions().size(), 1U);
  const OperationComparison moved = comparison.regressions()[0];
  EXPECT_EQ(moved.operation, "moved");
  EXPECT_EQ(moved.change_type, ChangeType::regression);
  EXPECT_TRUE(moved.is_significant);
  EXPECT_NEAR(*moved.baseline_time_ms, 4, 0.01);
  EXPECT_NEAR(*moved.change_ms, 1, 0.01);
  EXPECT_NEAR(*moved.change_percent, 25, 0.1);
  EXPECT_LT(*moved.change_percent_low, 25);
  EXPECT_GT(*moved.change_percent_high, 25);
  EXPECT_TRUE(comparison.improvements().empty());
  EXPECT_EQ(comparison.operations().size(), 2U);
}

TEST(CompareProfilingRuns, TheThresholdSaysWhatCounts) {
  EXPECT_EQ(compare_profiling_runs(runs(4), runs(5), 30).summary().regressions, 0U);
  EXPECT_EQ(compare_profiling_runs(runs(5), runs(4), 10).improvements().size(), 1U);
  EXPECT_THROW(compare_profiling_runs(runs(4), runs(5), 0), std::runtime_error);
}

TEST(CompareProfilingRuns, OneRunPerSideIsSuspectAtMost) {
  const RunComparison comparison = compare_profiling_runs(run(4, 1), run(5, 1));
  EXPECT_EQ(comparison.summary().regressions, 0U);
  ASSERT_EQ(comparison.regressions().size(), 1U);
  EXPECT_TRUE(comparison.regressions()[0].is_suspect);
  EXPECT_TRUE(comparison.regressions(0).empty());
}

TEST(CompareProfilingRuns, ReadsProfilesThatAProfilerWrote) {
  const fs::path folder = fs::temp_directory_path() / "fathom-api-test";
  fs::create_directories(folder);
  const std::string file = (folder / "profile.json").string();
  Profiler profiler;
  for (int i = 0; i < 20; ++i) const auto scope = profiler.profile("work");
  profiler.export_json(file);
  EXPECT_EQ(compare_profiling_runs({file, file}, {file, file}).operations().size(), 1U);
  const RunComparison comparison = compare_profiling_runs(file, file);
  EXPECT_TRUE(comparison.regressions().empty());
  EXPECT_EQ(comparison.operations()[0].operation, "work");
  EXPECT_EQ(comparison.operations()[0].change_percent, 0);
  EXPECT_EQ(comparison.operations()[0].baseline_calls, 20);
  const std::string out = (folder / "comparison.json").string();
  comparison.export_json(out);
  std::ifstream written(out);
  EXPECT_EQ(nlohmann::json::parse(written)["operations"][0]["operation"], "work");
  fs::remove_all(folder);
}

TEST(CompareProfilingRuns, SaysWhichFileIsWrong) {
  try {
    compare_profiling_runs("no such file", "nor this");
    FAIL() << "there is no such file";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos) << error.what();
  }
  EXPECT_THROW(compare_profiling_runs(std::vector<Summaries>{}, run(4, 1)), std::runtime_error);
}

TEST(CompareProfilingRuns, PrintsAsTheProgramDoes) {
  ::testing::internal::CaptureStdout();
  const RunComparison comparison = compare_profiling_runs(runs(4), runs(5));
  comparison.print_summary();
  comparison.print_regressions();
  comparison.print_improvements();
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("The largest difference is moved"), std::string::npos) << text;
  EXPECT_NE(text.find("SLOWER"), std::string::npos) << text;
  EXPECT_NE(text.find("Nothing got faster."), std::string::npos) << text;
}

}  // namespace fathom::compare_test
