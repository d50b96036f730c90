#include "analyze/run/wall.h"

#include <gtest/gtest.h>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/run/set_up_calls.h"
#include "analyze/trace_maker.h"

namespace fathom::analyze::wall_test {

using base::Interval;
using base::IntervalSet;
using trace::SpanKind;

constexpr std::int64_t kMs = 1'000'000;

// A launch at 1 ms and its kernel up to 5 ms.
TraceMaker one_kernel() {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 1 * kMs, 10'000, 1).gpu("k", 2 * kMs, 3 * kMs, 1);
  return maker;
}

TEST(Wall, IsTheProgramsLifeWhereItIsRecorded) {
  trace::RunInfo run;
  run.begin_ns = -7 * kMs;
  run.end_ns = 20 * kMs;
  const Wall found = wall(one_kernel().step("ProfilerStep#1", 0, kMs).make(run));
  EXPECT_EQ(found.basis, WallBasis::program);
  EXPECT_EQ(found.time, (Interval{-7 * kMs, 20 * kMs}));
  EXPECT_EQ(found.length_ns(), 27 * kMs);
}

TEST(Wall, BeginsWithTheFirstStepAndEndsWithTheWorkOfTheLast) {
  TraceMaker maker = one_kernel();
  maker.op("before", -9 * kMs, kMs).op("after", 8 * kMs, kMs);
  maker.step("ProfilerStep#1", 500'000, kMs).step("ProfilerStep#2", 2 * kMs, kMs);
  const Wall found = wall(maker.make());
  EXPECT_EQ(found.basis, WallBasis::steps);
  EXPECT_EQ(found.time, (Interval{500'000, 5 * kMs}));
}

TEST(Wall, EndsWithTheLastStepWhereThatIsLater) {
  TraceMaker maker = one_kernel();
  maker.step("ProfilerStep#1", 0, 9 * kMs);
  EXPECT_EQ(wall(maker.make()).time, (Interval{0, 9 * kMs}));
}

TEST(Wall, WithoutStepsIsThatOfTheGpuAndOfTheThreadsThatLaunch) {
  TraceMaker maker = one_kernel();
  maker.op("prepares", 300'000, 10'000);
  maker.call("cudaEventQuery", 30 * kMs, 10, trace::kNoCorrelation, 2);  // a watchdog
  maker.op("PyTorch Profiler (0)", -99 * kMs, 400 * kMs, 1, SpanKind::other);
  const Wall found = wall(maker.make());
  EXPECT_EQ(found.basis, WallBasis::activity);
  EXPECT_EQ(found.time, (Interval{300'000, 5 * kMs}));
}

TEST(Wall, LeavesOutTheWaitWithWhichAProfilerCloses) {
  TraceMaker maker = one_kernel();
  maker.call("cudaDeviceSynchronize", 1'600 * kMs, 20'000);
  EXPECT_EQ(wall(maker.make()).time.end, 5 * kMs);
  TraceMaker own = one_kernel();
  own.call("cudaDeviceSynchronize", 6 * kMs, 20'000).op("goes on", 7 * kMs, kMs);
  EXPECT_EQ(wall(own.make()).time.end, 8 * kMs) << "the program went on after it";
}

TEST(Wall, OfATraceWithoutGpuWorkIsThatOfAllThreads) {
  TraceMaker maker;
  maker.op("a", 10, 20, 1).op("b", 100, 50, 2);
  EXPECT_EQ(wall(maker.make()).time, (Interval{10, 150}));
  EXPECT_EQ(wall(TraceMaker().make()).length_ns(), 0);
}

TEST(Wall, ThreadsWithScopesAreOfTheRun) {
  TraceMaker maker = one_kernel();
  maker.op("epoch", 0, 50 * kMs, 2, SpanKind::scope);
  EXPECT_EQ(wall(maker.make()).time, (Interval{0, 50 * kMs}));
}

// A first use of the device: 30 ms in two calls that fill their operator, 5 ms before the kernel.
TraceMaker with_set_up() {
  TraceMaker maker;
  maker.op("loads weights", 0, 20 * kMs).op("aten::linear", 20 * kMs, 42 * kMs);
  maker.call("cudaFree", 22 * kMs, 20 * kMs).call("cudaMalloc", 45 * kMs, 10 * kMs);
  maker.call("cudaLaunchKernel", 60 * kMs, 10'000, 1).gpu("k", 61 * kMs, 39 * kMs, 1);
  return maker;
}

TEST(Wall, SetUpStandsApartWithTheOperatorItFills) {
  const Wall found = wall(with_set_up().make());
  EXPECT_EQ(found.time, (Interval{0, 100 * kMs}));
  EXPECT_EQ(found.set_up, (IntervalSet{{20 * kMs, 61 * kMs}}));
  EXPECT_EQ(found.set_up_call, "cudaFree");
  EXPECT_EQ(found.length_ns(), 59 * kMs);
}

TEST(Wall, SetUpOfAProgramThatFathomRecordedIsPartOfIt) {
  trace::RunInfo run;
  run.begin_ns = 0;
  run.end_ns = 100 * kMs;
  EXPECT_EQ(wall(with_set_up().make(run)).length_ns(), 100 * kMs);
}

TEST(Wall, OpenclSetsUpToo) {
  TraceMaker maker;
  maker.call("clBuildProgram", 0, 90 * kMs);
  maker.call("clEnqueueNDRangeKernel", 91 * kMs, 10'000, 1).gpu("blur", 92 * kMs, 8 * kMs, 1);
  const Wall found = wall(maker.make());
  EXPECT_EQ(found.set_up, (IntervalSet{{0, 90 * kMs}}));
  EXPECT_EQ(found.set_up_call, "clBuildProgram");
}

// Four workers start with the first batch, which takes 70 ms where the others take 20.
TEST(Wall, StartingADataLoaderIsSetUp) {
  const auto set_up_of = [](std::int64_t first_ms) {
    TraceMaker maker;
    std::int64_t now = 0;
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t load = (i == 0 ? first_ms : 20) * kMs;
      maker.step("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", now, load);
      maker.call("cudaLaunchKernel", now + load, 10'000, i + 1);
      maker.gpu("k", now + load + 20'000, kMs, i + 1);
      now += load + 2 * kMs;
    }
    return wall(maker.make()).set_up_ns();
  };
  EXPECT_EQ(set_up_of(70), 70 * kMs);
  EXPECT_EQ(set_up_of(50), 0);
}

TEST(Wall, CallsThatSetUpAreKnownByTheirNames) {
  EXPECT_EQ(set_up_role("cudaMalloc"), SetUpRole::memory);
  EXPECT_EQ(set_up_role("hipHostFree"), SetUpRole::memory);
  EXPECT_EQ(set_up_role("cuMemCreate"), SetUpRole::memory);
  EXPECT_EQ(set_up_role("cudaMallocAsync"), SetUpRole::device) << "from a pool";
  EXPECT_EQ(set_up_role("cuModuleLoadDataEx"), SetUpRole::program);
  EXPECT_EQ(set_up_role("clBuildProgram"), SetUpRole::program);
  EXPECT_EQ(set_up_role("cudaStreamCreateWithFlags"), SetUpRole::device);
  EXPECT_EQ(set_up_role("cudaLaunchKernel"), SetUpRole::none);
  EXPECT_EQ(set_up_role("hipModuleLoadData"), SetUpRole::program);
  EXPECT_EQ(set_up_role("hipModuleLaunchKernel"), SetUpRole::none);
  EXPECT_EQ(set_up_role("cuMemGetInfo_v2"), SetUpRole::device);
  EXPECT_EQ(set_up_role("clFinish"), SetUpRole::none);
  EXPECT_EQ(set_up_role("Malloc"), SetUpRole::none);
}

TEST(Wall, SetUpIsTheCallAloneWhereItDoesNotFillItsOperator) {
  TraceMaker maker;
  maker.op("compiled region", 0, 90 * kMs).call("cudaMalloc", 10 * kMs, 10 * kMs);
  maker.call("cudaLaunchKernel", 89 * kMs, 10'000, 1).gpu("k", 90 * kMs, 10 * kMs, 1);
  EXPECT_EQ(wall(maker.make()).set_up, (IntervalSet{{10 * kMs, 20 * kMs}}));
}

TEST(Wall, CallsThatTakeLongEachTimeAreNoSetUp) {
  TraceMaker maker;
  for (std::int64_t i = 0; i < 5; ++i) {
    maker.call("cudaMalloc", (20 * i + 1) * kMs, 12 * kMs);
    maker.call("cudaLaunchKernel", (20 * i + 15) * kMs, 10'000, i + 1);
    maker.gpu("k", (20 * i + 16) * kMs, 4 * kMs, i + 1);
  }
  const Wall found = wall(maker.make());
  EXPECT_EQ(found.set_up, (IntervalSet{{1 * kMs, 13 * kMs}})) << "but the first";
}

TEST(Wall, WhatTheGpuDoesDuringSetUpCounts) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 10'000, 1).gpu("k", kMs, 20 * kMs, 1);
  maker.call("cudaMalloc", 10 * kMs, 30 * kMs);
  maker.call("cudaLaunchKernel", 50 * kMs, 10'000, 2).gpu("k", 51 * kMs, kMs, 2);
  EXPECT_EQ(wall(maker.make()).set_up, (IntervalSet{{21 * kMs, 40 * kMs}}));
}

// One kernel on another stream, then nothing until work that had been launched long before.
TEST(Wall, AnExcerptLeavesOutWhatWasNotRecorded) {
  TraceMaker maker;
  maker.op("step", 0, 2 * kMs);
  maker.call("hipLaunchKernel", 10'000, 5'000, 1).gpu("a", 20'000, 10'000, 1, 2);
  maker.call("hipLaunchKernel", 40'000, 5'000, 2).gpu("b", 400 * kMs, 6 * kMs, 2, 3);
  const Wall found = wall(maker.make());
  EXPECT_EQ(found.time, (Interval{0, 406 * kMs}));
  EXPECT_EQ(found.unknown, (IntervalSet{{30'000, 400 * kMs}}));
  EXPECT_EQ(found.length_ns(), 30'000 + 6 * kMs);
}

TEST(Wall, WorkThatWaitedForWorkThatIsRecordedMakesNoExcerpt) {
  TraceMaker maker;
  maker.call("hipLaunchKernel", 10'000, 5'000, 1).gpu("a", 20'000, 390 * kMs, 1, 2);
  maker.call("hipLaunchKernel", 40'000, 5'000, 2).gpu("b", 400 * kMs, 6 * kMs, 2, 3);
  EXPECT_TRUE(wall(maker.make()).unknown.empty());
}

}  // namespace fathom::analyze::wall_test
