#include "analyze/hta/hta.h"

#include <gtest/gtest.h>

#include "analyze/gpu_trace.h"
#include "analyze/hta/hta_summary.h"

namespace fathom::analyze::hta_test {

using trace::SpanKind;
using trace::Trace;

RankFindings only_finding(const Trace& trace, const HtaOptions& options = {}) {
  const std::vector<RankFindings> found = holistic(trace, "trace.json", options);
  EXPECT_EQ(found.size(), 1U);
  return found.front();
}

TEST(WorkType, FollowsTheNamesOfTheLibraries) {
  const auto type = [](const char* name) {
    return work_type(kernel_class(SpanKind::kernel, name));
  };
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclDevKernel_Generic_4",
        "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 2>", "nvshmemi_transfer_rma",
        "void deep_ep::internode::dispatch<true>", "void mscclpp::allreduce", "one_shot_all_reduce",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>"}) {
    EXPECT_EQ(type(name), WorkType::communication) << name;
  }
  for (const char* name : {"volta_sgemm_128x64_nt", "triton_red_fused_sum", "", "dma_free_gemm",
                           "softmax_warpAllReduce", "ncc_like"}) {
    EXPECT_EQ(type(name), WorkType::compute) << name;
  }
  EXPECT_EQ(type("__amd_rocclr_copyBuffer"), WorkType::memory);
  EXPECT_EQ(work_type(kernel_class(SpanKind::copy, "CopyHostToDevice")), WorkType::memory);
  EXPECT_EQ(work_type(kernel_class(SpanKind::fill, "ncclSomething")), WorkType::memory);
}

// 0    10   20   30   40   50   60   70   80   90  100
// ├ gemm ───┤         ├ gemm ───┤              ├ gemm ┤   stream 7
//      ├ nccl ─────────────┤                              stream 8
//                                  ├ copy ┤               stream 9
Trace small_trace() {
  return GpuTrace()
      .launch(-20, 5, "gemm", 0, 20)
      .launch(-10, 5, "ncclDevKernel_AllReduce", 10, 35, 8)
      .launch(-5, 5, "gemm", 40, 20)
      .launch(61, 2, "Memcpy HtoD (Pinned -> Device)", 65, 15, 9, SpanKind::copy)
      .bytes(300)
      .launch(85, 3, "gemm", 90, 10)
      .take();
}

TEST(Hta, PartsTheTimeOfAGpuExactly) {
  const RankFindings found = only_finding(small_trace());
  ASSERT_TRUE(found.temporal);
  EXPECT_EQ(found.temporal->total_ns, 100);
  EXPECT_EQ(found.temporal->compute_ns, 50);
  EXPECT_EQ(found.temporal->communication_ns, 20);
  EXPECT_EQ(found.temporal->memory_ns, 15);
  EXPECT_EQ(found.temporal->idle_ns, 15);
  EXPECT_EQ(found.temporal->non_compute_ns(), 35);
}

TEST(Hta, SaysWhatRanAtTheSameTime) {
  const RankFindings found = only_finding(small_trace());
  ASSERT_EQ(found.kernel_types.size(), 4U);
  EXPECT_EQ(found.kernel_types[0].type, "compute");
  EXPECT_EQ(found.kernel_types[0].sum_ns, 35);
  EXPECT_EQ(found.kernel_types[1].type, "communication");
  EXPECT_EQ(found.kernel_types[2].type, "compute overlapping communication");
  EXPECT_EQ(found.kernel_types[2].sum_ns, 15);
  EXPECT_EQ(found.kernel_types[3].type, "memory");
  EXPECT_DOUBLE_EQ(*found.comm_comp_overlap_pct, 15.0 / 35 * 100);
}

TEST(Hta, KernelsHaveTheirOwnStatisticsAndMostTimeComesFirst) {
  const RankFindings found = only_finding(small_trace());
  ASSERT_EQ(found.kernels.size(), 3U);
  EXPECT_EQ(found.kernels[0].name, "gemm");
  EXPECT_EQ(found.kernels[0].durations.count(), 3U);
  EXPECT_EQ(found.kernels[0].durations.sum_ns(), 50);
  EXPECT_EQ(found.kernels[0].durations.min_ns(), 10);
  EXPECT_EQ(found.kernels[0].durations.max_ns(), 20);
  EXPECT_NEAR(found.kernels[0].durations.std_dev_ns(), 5.7735, 1e-4);
  EXPECT_EQ(found.kernels[1].type, WorkType::communication);
}

TEST(Hta, AGapIsTheHostsIfTheLaunchCameAfterItsBeginning) {
  const RankFindings found = only_finding(small_trace());
  // [60,65) copy launched at 61; [80,90) gemm launched at 85.
  EXPECT_EQ(found.idle.host_wait_ns, 15);
  EXPECT_EQ(found.idle.total_ns(), found.temporal->idle_ns);
  ASSERT_EQ(found.idle_streams.size(), 3U);
  EXPECT_EQ(found.idle_streams[0].stream, 7);
  EXPECT_EQ(found.idle_streams[0].causes.kernel_wait_ns, 20);  // launched long before
  EXPECT_EQ(found.idle_streams[0].causes.host_wait_ns, 30);
}

TEST(Hta, ALongGapBeforeWaitingWorkHasAnotherCause) {
  const Trace trace =
      GpuTrace().launch(0, 1, "a", 5, 10).launch(2, 1, "b", 15 + kKernelWaitBelowNs, 10).take();
  const RankFindings found = only_finding(trace);
  EXPECT_EQ(found.idle.other_ns, kKernelWaitBelowNs);
  EXPECT_EQ(found.idle.others, 1U);
}

TEST(Hta, WorkThatOverrunsTheNextMakesNoNegativeGap) {
  const Trace trace = GpuTrace()
                          .launch(0, 1, "long", 10, 100)
                          .launch(2, 1, "short", 20, 10)
                          .launch(4, 1, "late", 115, 5)
                          .take();
  const RankFindings found = only_finding(trace);
  EXPECT_EQ(found.idle_streams[0].causes.kernel_wait_ns, 5);
  EXPECT_EQ(found.idle_streams[0].causes.total_ns(), 5);
}

TEST(Hta, LaunchesCountCallsAndTheirDelay) {
  const RankFindings found = only_finding(small_trace());
  EXPECT_EQ(found.launches.all.count(), 5U);
  EXPECT_EQ(found.launches.all.cpu.sum_ns(), 20);
  EXPECT_EQ(found.launches.all.gpu.sum_ns(), 100);
  EXPECT_EQ(found.launches.all.delay.sum_ns(), 15 + 15 + 40 + 2 + 2);
  EXPECT_EQ(found.launches.by_call.size(), 1U);
}

TEST(Hta, AGraphIsOneLaunchOfMuchWork) {
  const Trace trace = GpuTrace()
                          .host(SpanKind::runtime_call, "cudaGraphLaunch", 0, 10, 5)
                          .work("a", 20, 10, 7, SpanKind::kernel, 5)
                          .work("b", 30, 10, 8, SpanKind::kernel, 5)
                          .work("c", 40, 10, 7, SpanKind::kernel, 5)
                          .take();
  const RankFindings found = only_finding(trace);
  EXPECT_EQ(found.launches.all.count(), 1U);
  EXPECT_EQ(found.launches.all.cpu.sum_ns(), 10);
  EXPECT_EQ(found.launches.all.gpu.sum_ns(), 30);
  EXPECT_EQ(found.launches.all.delay.sum_ns(), 10);
  EXPECT_EQ(found.unlinked_work, 0U);
  ASSERT_EQ(found.queues.size(), 2U);
  EXPECT_EQ(found.queues[0].max, 2U);
}

TEST(Hta, TheQueueIsMeasuredInTime) {
  const Trace trace = GpuTrace()
                          .launch(0, 1, "a", 10, 30)
                          .launch(5, 1, "b", 40, 10)
                          .launch(90, 1, "c", 100, 1)
                          .take();
  const RankFindings found = only_finding(trace);
  ASSERT_EQ(found.queues.size(), 1U);
  const QueueLength& queue = found.queues[0];
  EXPECT_EQ(queue.launched, 3U);
  EXPECT_EQ(queue.window_ns, 100);
  EXPECT_EQ(queue.max, 2U);
  EXPECT_DOUBLE_EQ(queue.mean, (5 + 2 * 5 + 30 + 10) / 100.0);
  EXPECT_EQ(queue.p50, 0U);
  EXPECT_EQ(queue.empty_ns, 50);
}

TEST(Hta, CopiesHaveARateByDirection) {
  const Trace trace =
      GpuTrace()
          .launch(0, 1, "Memcpy HtoD (Pinned -> Device)", 10, 100, 7, SpanKind::copy)
          .bytes(1000)
          .launch(0, 1, "Memcpy HtoD (Pageable -> Device)", 60, 100, 8, SpanKind::copy)
          .bytes(2000)
          .launch(0, 1, "Memset (Device)", 300, 0, 7, SpanKind::fill)
          .bytes(64)
          .take();
  const RankFindings found = only_finding(trace);
  ASSERT_EQ(found.bandwidths.size(), 2U);
  EXPECT_EQ(found.bandwidths[0].name, "Memcpy HtoD");
  EXPECT_EQ(found.bandwidths[0].bytes, 3000);
  EXPECT_EQ(found.bandwidths[0].busy_ns, 150);
  EXPECT_DOUBLE_EQ(*found.bandwidths[0].mean_gb_s, 20);
  EXPECT_DOUBLE_EQ(*found.bandwidths[0].max_gb_s, 20);
  EXPECT_FALSE(found.bandwidths[1].max_gb_s);  // took no time that was measured
}

TEST(Hta, AnnotationsInsideThoseOfTheSameNameCountOnce) {
  const trace::Trace trace = GpuTrace()
                                 .host(SpanKind::annotation, "a", 0, 100)
                                 .host(SpanKind::annotation, "b", 1, 98)
                                 .host(SpanKind::annotation, "a", 2, 96)
                                 .launch(10, 1, "k", 200, 5)
                                 .launch(20, 1, "k", 300, 7)
                                 .host(SpanKind::annotation, "b", 150, 10)
                                 .launch(151, 1, "k", 400, 9)
                                 .take();
  const std::vector<Annotation> found = holistic(trace, "t").front().annotations;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "b");
  EXPECT_EQ(found[0].kernels, 3U);
  EXPECT_EQ(found[0].gpu_ns, 21);
  EXPECT_EQ(found[1].name, "a");
  EXPECT_EQ(found[1].calls, 2U);
  EXPECT_EQ(found[1].kernels, 2U);
  EXPECT_EQ(found[1].gpu_ns, 12);
}

TEST(Hta, AGpuHasTheAnnotationsOfItsWorkAndTheFirstThoseOfNone) {
  const trace::Trace trace = GpuTrace()
                                 .host(SpanKind::annotation, "first", 0, 10)
                                 .launch(1, 1, "k", 200, 5)
                                 .host(SpanKind::annotation, "second", 20, 10)
                                 .launch(21, 1, "k", 300, 7, 7, SpanKind::kernel, 1)
                                 .host(SpanKind::annotation, "idle", 40, 10)
                                 .take();
  const std::vector<RankFindings> found = holistic(trace, "t");
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[0].annotations.size(), 2U);
  EXPECT_EQ(found[0].annotations[0].name, "first");
  EXPECT_EQ(found[0].annotations[1].name, "idle");
  ASSERT_EQ(found[1].annotations.size(), 1U);
  EXPECT_EQ(found[1].annotations[0].name, "second");
}

TEST(Hta, AnnotationsHaveTheWorkThatIsLaunchedInsideThem) {
  const Trace trace = GpuTrace()
                          .host(SpanKind::annotation, "forward", 0, 100)
                          .host(SpanKind::annotation, "layer", 10, 50)
                          .launch(20, 5, "gemm", 200, 30)
                          .launch(70, 5, "relu", 230, 10)
                          .launch(150, 5, "outside", 240, 10)
                          .work("layer", 200, 30, 7, SpanKind::gpu_annotation)
                          .take();
  const RankFindings found = only_finding(trace);
  ASSERT_EQ(found.annotations.size(), 2U);
  EXPECT_EQ(found.annotations[0].name, "forward");
  EXPECT_EQ(found.annotations[0].kernels, 2U);
  EXPECT_EQ(found.annotations[0].gpu_ns, 40);
  EXPECT_EQ(found.annotations[1].gpu_ns, 30);
  EXPECT_EQ(found.annotations[1].gpu_ranges, 1U);
}

TEST(Hta, TheLastStepIsLeftOutAndWorkBelongsToTheStepThatLaunchedIt) {
  const auto trace = [] {
    return GpuTrace()
        .host(SpanKind::annotation, "ProfilerStep#1", 0, 100)
        .host(SpanKind::annotation, "ProfilerStep#2", 100, 100)
        .launch(50, 5, "first", 120, 30)  // runs in the second step
        .launch(110, 5, "second", 160, 30)
        .work("unlinked, before", 10, 5)
        .work("unlinked, after", 300, 5)
        .take();
  }();
  const RankFindings found = only_finding(trace);
  EXPECT_TRUE(found.leaves_out_last_step);
  EXPECT_EQ(found.kernels.size(), 2U);
  EXPECT_EQ(found.temporal->total_ns, 140);
  EXPECT_EQ(found.annotations.size(), 1U);
  EXPECT_EQ(only_finding(trace, {.all_steps = true}).kernels.size(), 4U);
}

TEST(Hta, OneStepIsNotLeftOut) {
  const Trace trace = GpuTrace()
                          .host(SpanKind::annotation, "ProfilerStep#1", 0, 100)
                          .launch(50, 5, "first", 120, 30)
                          .take();
  EXPECT_EQ(only_finding(trace).kernels.size(), 1U);
}

TEST(Hta, GpusAreNeverMixed) {
  const Trace trace = GpuTrace()
                          .work("a", 0, 10, 7, SpanKind::kernel, -1, 0)
                          .work("b", 50, 10, 7, SpanKind::kernel, -1, 1)
                          .take();
  const std::vector<RankFindings> found = holistic(trace, "trace.json");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].device, 0);
  EXPECT_EQ(found[1].device, 1);
  EXPECT_EQ(found[0].temporal->total_ns, 10);
  EXPECT_EQ(found[1].temporal->idle_ns, 0);
}

TEST(Hta, WithoutGpuWorkFiguresAreAbsent) {
  const RankFindings found =
      only_finding(GpuTrace().host(SpanKind::cpu_op, "aten::add", 0, 10).take());
  EXPECT_FALSE(found.temporal);
  EXPECT_FALSE(found.comm_comp_overlap_pct);
  const HtaSummary summary = summarize({found});
  EXPECT_FALSE(summary.temporal);
  EXPECT_TRUE(summary.bottlenecks.empty());
}

TEST(Hta, TheRankComesFromTheTraceElseFromTheName) {
  trace::RunInfo run;
  run.rank = 3;
  EXPECT_EQ(holistic(GpuTrace().take(run), "worker5.json")[0].rank, 3);
  EXPECT_EQ(holistic(GpuTrace().take(), "job/worker5_step_12.169.pt.trace.json.gz")[0].rank, 5);
  EXPECT_EQ(holistic(GpuTrace().take(), "sampled_rank-1.json")[0].rank, 1);
  EXPECT_EQ(holistic(GpuTrace().take(), "ranking.json")[0].rank, std::nullopt);
}

TEST(HtaSummary, SharesAreOfTheTimeOfAllGpus) {
  std::vector<RankFindings> ranks = holistic(small_trace(), "a.json");
  ranks.push_back(only_finding(GpuTrace().work("gemm", 0, 300).take()));
  const HtaSummary summary = summarize(ranks);
  EXPECT_EQ(summary.temporal->total_ns, 400);
  EXPECT_EQ(summary.temporal->compute_ns, 350);
  EXPECT_EQ(summary.temporal->idle_ns, 15);
  EXPECT_EQ(summary.kernels[0].name, "gemm");
  EXPECT_EQ(summary.kernels[0].durations.count(), 4U);
  ASSERT_TRUE(summary.in_run);
  ASSERT_FALSE(summary.bottlenecks.empty());
  const HtaBottleneck& first = summary.bottlenecks.front();
  EXPECT_EQ(first.share_pct, percent_of(first.time_ns, summary.in_run->total_ns)) << "of the run";
  for (const HtaBottleneck& one : summary.bottlenecks) EXPECT_LE(one.time_ns, first.time_ns);
}

}  // namespace fathom::analyze::hta_test
