#include "report/gpu_story.h"

#include <gtest/gtest.h>

#include "report/efficiency_report.h"

namespace fathom::report::gpu_story_test {

using analyze::GpuShares;
using analyze::IdleCause;
using analyze::IdleTime;
using analyze::RunShares;

constexpr std::int64_t kMs = 1'000'000;

// A GPU in a run of 100 ms.
GpuShares gpu_with(std::int64_t compute_ms, std::int64_t communication_ms, std::int64_t copy_ms) {
  GpuShares gpu;
  gpu.wall_ns = 100 * kMs;
  gpu.compute_ns = compute_ms * kMs;
  gpu.communication.ns = communication_ms * kMs;
  gpu.copy.ns = copy_ms * kMs;
  gpu.idle_ns = (100 - compute_ms - communication_ms - copy_ms) * kMs;
  return gpu;
}

RunShares run_with(std::vector<GpuShares> gpus) {
  RunShares run;
  run.wall.time = {0, 100 * kMs};
  run.gpus = std::move(gpus);
  return run;
}

std::string story_of(const RunShares& run) {
  return gpu_story(gpus_of(run));
}

// All idle time has this cause.
std::string idle_story(IdleCause cause, IdleTime idle) {
  GpuShares gpu = gpu_with(30, 0, 0);
  gpu.launches = 929;
  gpu.launch_period_ns = 72'000;
  gpu.kernel_ns = 6'000;
  idle.ns = gpu.idle_ns;
  gpu.idle[static_cast<std::size_t>(cause)] = idle;
  const std::string text = story_of(run_with({gpu}));
  const std::string begin =
      "The GPU computed 30.0 % of 100.0 ms; the largest loss is 70.0 % idle: ";
  EXPECT_TRUE(text.starts_with(begin)) << text;
  return text.substr(std::min(text.size(), begin.size()));
}

TEST(GpuStory, NamesTheCauseOfIdleTime) {
  EXPECT_EQ(idle_story(IdleCause::host_code, {.what = "normalize", .what_ns = 50 * kMs}),
            "70.0 ms while the host ran code that launches nothing, mostly normalize (50.0 ms).");
  EXPECT_EQ(idle_story(IdleCause::host_code, {}),
            "70.0 ms in which nothing was recorded on the host.");
  EXPECT_EQ(idle_story(IdleCause::sync,
                       {.gaps = 96, .what = "aten::to", .call = "cudaMemcpyAsync", .bytes = 8}),
            "70.0 ms in 96 gaps after the host had waited for the GPU, mostly in aten::to "
            "(cudaMemcpyAsync) for copies of up to 8 B.");
  EXPECT_EQ(idle_story(IdleCause::set_up, {.what = "cudaMalloc"}),
            "70.0 ms in calls that took ten times as long as usual, mostly cudaMalloc.");
  EXPECT_EQ(idle_story(IdleCause::call, {.what = "cudaHostAlloc"}),
            "70.0 ms in calls of the runtime, mostly cudaHostAlloc.");
  EXPECT_EQ(idle_story(IdleCause::launch, {}),
            "launch-bound, 929 launches 72.0 µs apart for kernels of 6.0 µs (medians).");
  EXPECT_EQ(idle_story(IdleCause::latency, {.gaps = 7}),
            "70.0 ms in 7 gaps of less than 10 µs between pieces of work.");
  EXPECT_EQ(idle_story(IdleCause::other_stream, {.gaps = 7}),
            "70.0 ms in 7 gaps between work of different streams.");
  EXPECT_EQ(idle_story(IdleCause::not_recorded, {.queued = 900}),
            "70.0 ms before work that had been launched (900 in the queue) and waited for "
            "something that is not in the trace.");
  EXPECT_EQ(idle_story(IdleCause::unlinked, {}),
            "70.0 ms before work of which the trace does not say when it was launched.");
}

TEST(GpuStory, NamesWhatIsExposed) {
  GpuShares copies = gpu_with(2, 0, 97);
  copies.copy.what = "Memcpy HtoD (Pinned -> Device)";
  copies.copy.what_ns = 97 * kMs;
  copies.copy.work_ns = 100 * kMs;
  copies.copy.calls = 226;
  copies.copy.bytes = 2'500'000'000;
  EXPECT_EQ(story_of(run_with({copies})),
            "The GPU computed 2.0 % of 100.0 ms; the largest loss is 97.0 % exposed copies: mostly "
            "Memcpy HtoD (Pinned -> Device) (226 copies at 25.0 GB/s, 97.0 ms).");
  GpuShares exchange = gpu_with(30, 64, 3);
  exchange.communication.what = "AllReduce";
  exchange.communication.what_ns = 60 * kMs;
  exchange.communication.calls = 8;
  RunShares run = run_with({exchange});
  run.steps = 4;
  run.step_ns = 25 * kMs;
  EXPECT_EQ(story_of(run),
            "The GPU computed 30.0 % of 100.0 ms; the largest loss is 64.0 % exposed "
            "communication: mostly AllReduce (8 calls, 60.0 ms); 16.0 ms of each step of 25.0 ms.");
}

TEST(GpuStory, WithoutALossOfTenPerCentItIsGpuBound) {
  GpuShares gpu = gpu_with(91, 0, 0);
  gpu.largest = "gemm";
  gpu.largest_pct = 61;
  EXPECT_EQ(story_of(run_with({gpu})),
            "The GPU computed 91.0 % of 100.0 ms: GPU-bound. The largest part of its compute is "
            "gemm (61.0 % of GPU time).");
}

// Launch-bound is a GPU that waits for launches most of the time, not one that does in places.
TEST(GpuStory, RunningOutOfWorkInPlacesIsNotLaunchBound) {
  GpuShares gpu = gpu_with(80, 0, 0);
  gpu.launches = 9'258;
  gpu.launch_period_ns = 50'000;
  gpu.kernel_ns = 2'000;
  gpu.idle[static_cast<std::size_t>(IdleCause::launch)] = {.ns = gpu.idle_ns, .gaps = 12};
  EXPECT_EQ(story_of(run_with({gpu})),
            "The GPU computed 80.0 % of 100.0 ms; the largest loss is 20.0 % idle: 20.0 ms in 12 "
            "gaps before work that the host launched late.");
}

TEST(GpuStory, SaysThatCommunicationIsHidden) {
  GpuShares gpu = gpu_with(96, 3, 0);
  gpu.hidden_communication_ns = 84 * kMs;
  gpu.largest = "GEMM";
  gpu.largest_pct = 31;
  EXPECT_EQ(story_of(run_with({gpu})),
            "The GPU computed 96.0 % of 100.0 ms: GPU-bound. The largest part of its compute is "
            "GEMM (31.0 % of GPU time). It communicated for 87.0 ms, 96.6 % of that alongside "
            "compute.");
  gpu.communication_blocks = 20;
  gpu.multiprocessors = 132;
  const std::string text = story_of(run_with({gpu}));
  EXPECT_TRUE(text.ends_with("alongside compute, in kernels of 20 blocks on 132 multiprocessors."))
      << text;
}

// A GPU that spends 60 % of its time on one class and 40 % on matrix products.
analyze::Efficiency used_with(analyze::KernelClass kernel_class, double gemm_pct) {
  analyze::Efficiency used;
  used.device_name = "NVIDIA H100";
  used.has_shapes = true;
  const auto add = [&](analyze::KernelClass of, std::int64_t ns, double flop, double bytes) {
    analyze::ClassUse& use = used.by_class[static_cast<std::size_t>(of)];
    use.time_ns = ns;
    use.known.count = 1;
    use.known.time_ns = ns;
    use.known.flop_floor_ns = flop;
    use.known.bytes_floor_ns = bytes;
    use.known.floor_ns = std::max(flop, bytes);
  };
  add(kernel_class, 60 * kMs, 1, 0.25 * 60 * kMs);
  add(analyze::KernelClass::gemm, 40 * kMs, gemm_pct / 100 * 40 * kMs, 1);
  return used;
}

std::string bound_story(const analyze::Efficiency& used) {
  GpuShares gpu = gpu_with(91, 0, 0);
  gpu.largest = "elementwise";
  gpu.largest_class = analyze::KernelClass::elementwise;
  gpu.largest_pct = 60;
  const RunShares run = run_with({gpu});
  const std::string text = gpu_story(gpus_of(run, std::span(&used, 1)));
  const std::string begin =
      "The GPU computed 91.0 % of 100.0 ms: GPU-bound. The largest part of its compute is "
      "elementwise (60.0 % of GPU time)";
  EXPECT_TRUE(text.starts_with(begin)) << text;
  return text.substr(std::min(text.size(), begin.size()));
}

TEST(GpuStory, GpuBoundRunsSayHowWellTheLargestPartRuns) {
  const auto elementwise = analyze::KernelClass::elementwise;
  EXPECT_EQ(bound_story(used_with(elementwise, 62)),
            ", at 25.0 % of the memory bandwidth. GEMM (40.0 %) is fine, at 62.0 % of the peak.");
  EXPECT_EQ(bound_story(used_with(elementwise, 30)), ", at 25.0 % of the memory bandwidth.");
  analyze::Efficiency in_fp32 = used_with(elementwise, 62);
  in_fp32.by_class[static_cast<std::size_t>(analyze::KernelClass::gemm)].fp32_ns = 40 * kMs;
  EXPECT_EQ(bound_story(in_fp32), ", at 25.0 % of the memory bandwidth.");
}

TEST(GpuStory, WhatRunsOffTheTensorCoresIsMeasuredByItsOwnPeak) {
  analyze::Efficiency used = used_with(analyze::KernelClass::elementwise, 93);
  used.by_class[static_cast<std::size_t>(analyze::KernelClass::gemm)].fp32_ns = 40 * kMs;
  GpuShares gpu = gpu_with(91, 0, 0);
  gpu.largest = "GEMM";
  gpu.largest_class = analyze::KernelClass::gemm;
  const RunShares run = run_with({gpu});
  const std::string text = gpu_story(gpus_of(run, std::span(&used, 1)));
  EXPECT_TRUE(text.ends_with(", at 93.0 % of the FP32 peak, without tensor cores.")) << text;
}

TEST(GpuStory, WithoutShapesItSaysHowToRecordThem) {
  analyze::Efficiency unknown;
  EXPECT_EQ(bound_story(unknown), ".");
  unknown.could_have_shapes = true;
  EXPECT_EQ(bound_story(unknown),
            "; to see how efficient it is, record shapes (record_shapes=True).");
  unknown.server = analyze::Server::vllm;
  EXPECT_EQ(bound_story(unknown),
            "; to see how efficient it is, record shapes "
            "(--profiler-config.torch_profiler_record_shapes=true).");
  EXPECT_EQ(efficiency_sentences(unknown).front().find("torch.profiler.profile"),
            std::string::npos);
}

TEST(GpuStory, WhereShapesDoNotTellItSaysWhy) {
  analyze::Efficiency unknown;
  unknown.has_shapes = true;
  EXPECT_EQ(bound_story(unknown),
            "; how efficient it is cannot be told: most of its work does not follow from recorded "
            "shapes.");
  unknown.has_shapes = false;
  analyze::ClassUse& use =
      unknown.by_class[static_cast<std::size_t>(analyze::KernelClass::elementwise)];
  use.time_ns = 60 * kMs;
  use.graph_ns = 50 * kMs;
  EXPECT_EQ(bound_story(unknown),
            "; how efficient it is cannot be told: captured graphs record no shapes.");
}

// No loss is as large as 10 %, but together they are: the GPU is not what limits the run.
TEST(GpuStory, ThreeSmallLossesAreNotGpuBound) {
  const std::string text = story_of(run_with({gpu_with(73, 9, 9)}));
  EXPECT_TRUE(text.starts_with("The GPU computed 73.0 % of 100.0 ms; the largest loss is 9.0 % "))
      << text;
}

TEST(EfficiencyWords, SayOfHowMuchTheyKnow) {
  analyze::Efficiency used;
  used.device_name = "AMD Instinct MI300X";
  used.matrix_ns = 100 * kMs;
  used.told_matrix_ns = 40 * kMs;
  used.tensor_core_ns = 40 * kMs;
  EXPECT_EQ(
      efficiency_sentences(used).front(),
      "100.0 % of the matrix work whose kernel names tell (40.0 % of it) ran on matrix cores.");
  used.told_matrix_ns = 100 * kMs;
  used.device_name = "NVIDIA H100";
  EXPECT_EQ(efficiency_sentences(used).front(),
            "40.0 % of the matrix work ran on tensor cores, going by kernel names.");
}

TEST(GpuStory, OfSeveralGpusTheRangeAndTheWorst) {
  GpuShares better = gpu_with(85, 3, 1);
  GpuShares worse = gpu_with(80, 4, 1);
  worse.device = 1;
  worse.idle[static_cast<std::size_t>(IdleCause::host_code)] = {.ns = 15 * kMs, .gaps = 1};
  EXPECT_EQ(story_of(run_with({better, worse})),
            "The 2 GPUs computed 80.0–85.0 % of 100.0 ms; the largest loss is 11.0–15.0 % idle "
            "(most on GPU 1): 15.0 ms in which nothing was recorded on the host.");
}

TEST(GpuStory, SaysWhatStandsApart) {
  GpuShares gpu = gpu_with(95, 0, 0);
  RunShares run = run_with({gpu});
  run.wall.set_up = {{0, 30 * kMs}};
  run.wall.set_up_call = "cudaFree";
  run.wall.unknown = {{40 * kMs, 45 * kMs}};
  EXPECT_EQ(story_of(run),
            "The GPU computed 95.0 % of 100.0 ms: GPU-bound. Not counted: 30.0 ms of set-up "
            "(cudaFree the longest). Not counted: 5.0 ms in which the GPU ran what this excerpt "
            "does not have.");
}

}  // namespace fathom::report::gpu_story_test
