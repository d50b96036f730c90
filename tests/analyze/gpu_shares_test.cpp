#include "analyze/run/gpu_shares.h"

#include <gtest/gtest.h>

#include "analyze/gpu_trace.h"
#include "analyze/operations/steps.h"
#include "analyze/trace_maker.h"

namespace fathom::analyze::gpu_shares_test {

using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

RunShares shares_of(const Trace& trace) {
  const GpuWork work = gpu_work(trace);
  const std::vector<trace::SpanId> steps = step_spans(trace);
  return run_shares(trace, work, wall(trace, work, steps), steps);
}

// Of a trace with one GPU: the cause of all its idle time.
IdleCause only_cause(const GpuShares& gpu) {
  IdleCause found = IdleCause::unlinked;
  std::size_t causes = 0;
  for (std::size_t i = 0; i < gpu.idle.size(); ++i) {
    if (gpu.idle[i].ns == 0) continue;
    found = static_cast<IdleCause>(i);
    ++causes;
  }
  EXPECT_EQ(causes, 1U);
  return found;
}

TEST(GpuShares, CopiesAndCommunicationCountWhereNothingComputes) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 100);
  maker.gpu("gemm", 10, 30).gpu("ncclKernel_AllReduce", 30, 30, trace::kNoCorrelation, 8);
  maker.gpu("Memcpy HtoD", 50, 40, trace::kNoCorrelation, 9, SpanKind::copy).bytes(400);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.wall_ns, 100);
  EXPECT_EQ(gpu.compute_ns, 30);
  EXPECT_EQ(gpu.communication.ns, 20);
  EXPECT_EQ(gpu.hidden_communication_ns, 10);
  EXPECT_EQ(gpu.communication.what, "all-reduce");
  EXPECT_EQ(gpu.communication.work_ns, 30);
  EXPECT_EQ(gpu.copy.ns, 30);
  EXPECT_EQ(gpu.copy.what, "Memcpy HtoD");
  EXPECT_EQ(gpu.copy.bytes, 400);
  EXPECT_EQ(gpu.idle_ns, 20);
}

// The kernel of all exchanges does not tell which it is; the annotation around its launch does.
TEST(GpuShares, AnExchangeIsCalledWhatItWasAskedForAs) {
  TraceMaker maker;
  maker.op("nccl:all_to_all", 0, 20 * kUs, 1, SpanKind::annotation);
  maker.call("cudaLaunchKernel", kUs, 5 * kUs, 1);
  maker.gpu("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", 10 * kUs, kMs, 1);
  EXPECT_EQ(shares_of(maker.make()).gpus.front().communication.what, "all-to-all");
}

// Two threads that launch at once: each has a pace of its own.
TEST(GpuShares, LaunchesAreApartByThread) {
  TraceMaker maker;
  for (int i = 0; i < 5; ++i) {
    maker.call("cudaLaunchKernel", i * 40 * kUs, 5 * kUs, 2 * i + 1);
    maker.call("cudaLaunchKernel", i * 40 * kUs + 10 * kUs, 5 * kUs, 2 * i + 2, 2);
    maker.gpu("a", i * 40 * kUs + 10 * kUs, kUs, 2 * i + 1);
    maker.gpu("b", i * 40 * kUs + 20 * kUs, kUs, 2 * i + 2);
  }
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.launches, 10U);
  EXPECT_EQ(gpu.launch_period_ns, 40 * kUs);
}

// 40 ms of preprocessing, then 10 ms of work, then 5 ms of the host.
TEST(GpuShares, ALateStartAndAnEarlyEndAreIdleWithWhatTheHostDid) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 55 * kMs);
  maker.op("main", 0, 55 * kMs, 1, SpanKind::python);
  maker.op("preprocess", 0, 40 * kMs, 1, SpanKind::python);
  maker.op("decode", kMs, 8 * kMs, 1, SpanKind::python);
  maker.op("normalize", 10 * kMs, 25 * kMs, 1, SpanKind::python);
  maker.op("asarray", 10 * kMs, 20 * kMs, 1, SpanKind::python);
  maker.call("cudaLaunchKernel", 40 * kMs, 10 * kUs, 1).gpu("k", 40 * kMs + 10 * kUs, 10 * kMs, 1);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.compute_ns, 10 * kMs);
  EXPECT_EQ(gpu.idle_ns, 45 * kMs);
  EXPECT_EQ(only_cause(gpu), IdleCause::host_code);
  const IdleTime& code = gpu.idle_by(IdleCause::host_code);
  EXPECT_EQ(code.gaps, 2U);
  EXPECT_EQ(code.what, "normalize") << "most of what preprocess does, and no deeper";
  EXPECT_EQ(code.what_ns, 25 * kMs);
}

TEST(GpuShares, HostCodeOfWhichNothingWasRecordedHasNoName) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 60 * kMs);
  maker.call("cudaLaunchKernel", 0, 10 * kUs, 1).gpu("k", 10 * kUs, kMs, 1);
  maker.call("cudaLaunchKernel", 40 * kMs, 10 * kUs, 2).gpu("k", 40 * kMs + 10 * kUs, 20 * kMs, 2);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.idle_by(IdleCause::host_code).gaps, 1U);
  EXPECT_EQ(gpu.idle_by(IdleCause::host_code).what, "");
}

// Two kernels with a gap from `first_ns` to `second_ns`, the second launched at `launch_ns`.
TraceMaker two_kernels(std::int64_t first_ns, std::int64_t launch_ns, std::int64_t second_ns,
                       std::int64_t stream = 7) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, kUs, 1).gpu("k", 0, first_ns, 1);
  maker.call("cudaLaunchKernel", launch_ns, kUs, 2).gpu("k", second_ns, 50 * kUs, 2, stream);
  return maker;
}

TEST(GpuShares, WorkThatIsLaunchedLateIsLaunchBound) {
  TraceMaker maker = two_kernels(20 * kUs, 60 * kUs, 65 * kUs);
  maker.op("aten::add", 30 * kUs, 32 * kUs);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(only_cause(gpu), IdleCause::launch);
  EXPECT_EQ(gpu.idle_ns, 45 * kUs);
  EXPECT_EQ(gpu.launches, 2U);
  EXPECT_EQ(gpu.launch_period_ns, 60 * kUs);
  EXPECT_EQ(gpu.kernel_ns, 20 * kUs);
}

TEST(GpuShares, WorkThatIsLaunchedLateAfterAWaitIsTheWaits) {
  TraceMaker maker = two_kernels(20 * kUs, 60 * kUs, 65 * kUs);
  maker.op("aten::item", 5 * kUs, 20 * kUs).call("cudaStreamSynchronize", 6 * kUs, 18 * kUs);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(only_cause(gpu), IdleCause::sync);
  const IdleTime& sync = gpu.idle_by(IdleCause::sync);
  EXPECT_EQ(sync.what, "aten::item");
  EXPECT_EQ(sync.call, "cudaStreamSynchronize");
  EXPECT_EQ(sync.what_ns, 45 * kUs);
}

TEST(GpuShares, ACopyThatBlocksIsAWaitAndSaysItsBytes) {
  TraceMaker maker;
  maker.op("aten::to", 0, 30 * kUs).call("cudaMemcpyAsync", kUs, 28 * kUs, 1);
  maker.gpu("Memcpy HtoD (Pageable -> Device)", 20 * kUs, 5 * kUs, 1, 7, SpanKind::copy).bytes(8);
  maker.call("cudaLaunchKernel", 60 * kUs, kUs, 2).gpu("k", 65 * kUs, 50 * kUs, 2);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  const IdleTime& sync = gpu.idle_by(IdleCause::sync);
  EXPECT_EQ(sync.ns, 40 * kUs);
  EXPECT_EQ(sync.what, "aten::to");
  EXPECT_EQ(sync.bytes, 8);
}

TEST(GpuShares, ACallThatTakesTenTimesItsMedianIsSetUp) {
  TraceMaker maker = two_kernels(20 * kUs, 5 * kMs, 5 * kMs + 10 * kUs);
  for (std::int64_t i = 0; i < 5; ++i) maker.call("cudaMalloc", i * kUs + 10, 100);
  maker.call("cudaMalloc", 100 * kUs, 4 * kMs);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(only_cause(gpu), IdleCause::set_up);
  EXPECT_EQ(gpu.idle_by(IdleCause::set_up).what, "cudaMalloc");
}

TEST(GpuShares, AnotherCallThatFillsTheGapIsNamed) {
  TraceMaker maker = two_kernels(20 * kUs, 300 * kUs, 310 * kUs);
  maker.call("cudaHostAlloc", 30 * kUs, 250 * kUs);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(only_cause(gpu), IdleCause::call);
  EXPECT_EQ(gpu.idle_by(IdleCause::call).what, "cudaHostAlloc");
}

TEST(GpuShares, WorkThatWasLaunchedInTimeWaitedForSomethingElse) {
  const auto cause = [](TraceMaker maker) {
    return only_cause(shares_of(maker.make()).gpus.front());
  };
  EXPECT_EQ(cause(two_kernels(20 * kUs, 10 * kUs, 25 * kUs)), IdleCause::latency);
  EXPECT_EQ(cause(two_kernels(20 * kUs, 10 * kUs, 60 * kUs, 8)), IdleCause::other_stream);
  EXPECT_EQ(cause(two_kernels(20 * kUs, 10 * kUs, 60 * kUs)), IdleCause::not_recorded);
  EXPECT_EQ(cause(two_kernels(20 * kUs, 10 * kUs, 300 * kUs)), IdleCause::not_recorded);
}

TEST(GpuShares, SaysHowMuchWorkWasQueued) {
  TraceMaker maker = two_kernels(20 * kUs, 10 * kUs, 300 * kUs);
  for (std::int64_t i = 0; i < 6; ++i) {
    maker.call("cudaLaunchKernel", (11 + i) * kUs, 500, 10 + i)
        .gpu("k", (400 + i) * kUs, kUs, 10 + i);
  }
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.idle_by(IdleCause::not_recorded).queued, 7U);
}

TEST(GpuShares, WorkWithoutALaunchSaysSo) {
  TraceMaker maker;
  maker.gpu("k", 0, 20 * kUs).gpu("k", 60 * kUs, 20 * kUs);
  EXPECT_EQ(only_cause(shares_of(maker.make()).gpus.front()), IdleCause::unlinked);
}

// The backward pass is launched by a thread of its own, which had nothing to do before.
TEST(GpuShares, AThreadThatWasHandedOverToIsNotToBlame) {
  TraceMaker maker;
  maker.op("preprocess", 10 * kUs, 30 * kMs).call("cudaLaunchKernel", 0, kUs, 1);
  maker.gpu("k", 0, 20 * kUs, 1);
  maker.call("cudaLaunchKernel", 31 * kMs, kUs, 2, 2).gpu("k", 31 * kMs + 5 * kUs, 20 * kUs, 2);
  const GpuShares gpu = shares_of(maker.make()).gpus.front();
  EXPECT_EQ(gpu.idle_by(IdleCause::host_code).what, "preprocess");
}

TEST(GpuShares, SetUpAndWhatIsUnknownAreNobodysIdleTime) {
  TraceMaker maker;
  maker.call("cudaFree", 0, 30 * kMs);
  maker.call("cudaLaunchKernel", 31 * kMs, kUs, 1).gpu("k", 32 * kMs, 10 * kMs, 1);
  const RunShares run = shares_of(maker.make());
  EXPECT_EQ(run.wall.set_up_ns(), 30 * kMs);
  EXPECT_EQ(run.gpus.front().wall_ns, 12 * kMs);
  EXPECT_EQ(run.gpus.front().idle_ns, 2 * kMs);
}

TEST(GpuShares, EachGpuHasItsOwnOfOneRun) {
  GpuTrace made;
  made.launch(0, 1, "gemm", 10, 80).launch(1, 1, "gemm", 50, 10, 7, SpanKind::kernel, 1);
  const RunShares run = shares_of(made.take());
  ASSERT_EQ(run.gpus.size(), 2U);
  EXPECT_EQ(run.gpus[0].wall_ns, 90);
  EXPECT_EQ(run.gpus[1].wall_ns, 90);
  EXPECT_EQ(run.gpus[0].compute_ns, 80);
  EXPECT_EQ(run.gpus[1].compute_ns, 10);
  EXPECT_EQ(run.gpus[1].device, 1);
}

// The host's steps take 10, the GPU's work of each takes 30.
TEST(GpuShares, AStepTakesAsLongAsOnTheGpu) {
  TraceMaker maker;
  for (std::int64_t i = 0; i < 4; ++i) {
    maker.step("ProfilerStep#" + std::to_string(i), 10 * i, 9);
    maker.call("cudaLaunchKernel", 10 * i + 1, 1, 2 * i + 1).gpu("a", 30 * i + 5, 20, 2 * i + 1);
    maker.call("cudaLaunchKernel", 10 * i + 3, 1, 2 * i + 2).gpu("b", 30 * i + 25, 9, 2 * i + 2);
  }
  EXPECT_EQ(shares_of(maker.make()).step_ns, 30);
}

// Against brute force, instant by instant.
TEST(GpuShares, AddUpToTheRunOnRandomTraces) {
  std::mt19937 random(17);
  for (int round = 0; round < 2000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const GpuWork work = gpu_work(trace);
    const RunShares run = shares_of(trace);
    ASSERT_EQ(run.gpus.size(), work.devices.size());
    if (run.gpus.empty()) continue;
    const GpuShares& gpu = run.gpus.front();
    ASSERT_EQ(gpu.compute_ns + gpu.communication.ns + gpu.copy.ns + gpu.idle_ns,
              run.wall.length_ns());
    std::int64_t by_cause = 0;
    for (const IdleTime& idle : gpu.idle) by_cause += idle.ns;
    ASSERT_EQ(by_cause, gpu.idle_ns);
    const base::Interval time = run.wall.time;
    if (time.length() > 200) continue;  // the same at another scale
    std::array<std::int64_t, 4> counted = {};
    for (std::int64_t t = time.begin; t < time.end; ++t) {
      std::size_t first = 3;
      for (const WorkRow& row : work.rows) {
        const bool runs = row.start_ns <= t && t < row.end_ns;
        if (runs) first = std::min(first, static_cast<std::size_t>(row.type));
      }
      ++counted[first];
    }
    ASSERT_EQ(counted, (std::array<std::int64_t, 4>{gpu.compute_ns, gpu.communication.ns,
                                                    gpu.copy.ns, gpu.idle_ns}));
  }
}

}  // namespace fathom::analyze::gpu_shares_test
