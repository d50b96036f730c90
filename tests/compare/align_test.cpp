#include "compare/align.h"

#include <gtest/gtest.h>

#include "analyze/trace_maker.h"
#include "compare/comparison.h"

namespace fathom::compare::align_test {

using analyze::TraceMaker;
using Runs = std::vector<Run>;

Run recorded(TraceMaker& maker) {
  return run_of(maker.make(), "run");
}

const AlignedOperation* find(const Alignment& alignment, const std::string& name) {
  for (const AlignedOperation& operation : alignment.operations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

// A run in which an operation launches a kernel of 1 ms.
Run launching(const std::string& operation, const std::string& kernel) {
  TraceMaker maker;
  maker.op(operation, 0, 100'000).call("cudaLaunchKernel", 10, 10, 1);
  return recorded(maker.gpu(kernel, 1000, 1'000'000, 1));
}

TEST(Align, GpuWorkOfOtherNamesGoesByWhatLaunchedIt) {
  const Runs base = {launching("aten::mm", "ampere_gemm")};
  const Runs current = {launching("aten::mm", "Cijk_Ailk")};
  const Alignment alignment = align(base, current);
  const AlignedOperation* both = find(alignment, "aten::mm");
  ASSERT_NE(both, nullptr);
  EXPECT_GT(alignment.matched_pct, 99);
}

// What has two launchers is compared once, or told as gone once.
TEST(Align, NoGpuWorkCountsTwice) {
  const Runs base = {launching("aten::mm", "ampere_gemm"), launching("aten::addmm", "ampere_gemm")};
  const Runs current = {launching("aten::mm", "Cijk_Ailk"), launching("aten::mm", "Cijk_Ailk")};
  double gpu_ns = 0;
  for (const AlignedOperation& operation : align(base, current).operations) {
    if (trace::is_gpu_work(operation.kind)) gpu_ns += operation.base_self_ns;
  }
  EXPECT_EQ(gpu_ns, 2'000'000);
}

TEST(Align, NamesAreThoseOfTheTraceWhereOneSideAloneHasThem) {
  TraceMaker base;
  base.call("cudaLaunchKernel", 0, 1000).call("cudaMalloc", 2000, 500);
  TraceMaker current;
  current.call("hipLaunchKernel", 0, 1000).call("hipExtModuleLaunchKernel", 2000, 500);
  const Runs before = {recorded(base)};
  const Runs now = {recorded(current)};
  const Alignment alignment = align(before, now);
  EXPECT_NE(find(alignment, "cudaLaunchKernel"), nullptr);
  EXPECT_NE(find(alignment, "cudaMalloc"), nullptr);
  EXPECT_NE(find(alignment, "hipExtModuleLaunchKernel"), nullptr);
  EXPECT_EQ(alignment.operations.size(), 3U);
}

TEST(Align, StepsDoNotMakeTwoProgramsOne) {
  TraceMaker base;
  base.step("ProfilerStep#1", 0, 1'000'000).op("aten::conv2d", 10, 300'000);
  TraceMaker current;
  current.step("ProfilerStep#1", 0, 1'000'000).op("aten::bmm", 10, 300'000);
  const Runs before = {recorded(base)};
  const Runs now = {recorded(current)};
  EXPECT_EQ(align(before, now).matched_pct, 0);
}

TEST(Align, PartsOfNextToNoTimeAreLeftOut) {
  const auto run = [](std::int64_t tiny_ns) {
    TraceMaker maker;
    maker.gpu("gemm", 0, 10'000'000).shaped("8x8").gpu("gemm", 20'000'000, 3'000'000).shaped("2x2");
    return recorded(maker.gpu("gemm", 40'000'000, tiny_ns).shaped("1x1"));
  };
  const Runs before = {run(10)};
  const Runs now = {run(20)};
  EXPECT_EQ(align(before, now).operations.size(), 2U);
  EXPECT_EQ(align(before, now).left_out, 1U);
}

// Warm-up and all: what a step took, not what the quickest half took.
TEST(Comparison, AStepIsJudgedByItsMean) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 9'000).step("ProfilerStep#2", 10'000, 1'000);
  maker.step("ProfilerStep#3", 20'000, 2'000).op("aten::mm", 10, 500);
  const Runs runs = {recorded(maker)};
  const Comparison comparison = compare_runs(runs, runs, {});
  ASSERT_TRUE(comparison.whole);
  EXPECT_NEAR(*comparison.whole->base_ns, 4'000, 1);
}

}  // namespace fathom::compare::align_test
