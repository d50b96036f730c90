#include "report/gpu_story.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(
      idle_story(IdleCause::sync,
                 {.what = "aten::to", .call = "cudaMemcpyAsync", .what_gaps = 96, .bytes = 8}),
      "70.0 ms after the host had waited for the GPU, mostly in aten::to (cudaMemcpyAsync), "
      "96 times, for copies of up to 8 B.");
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
            "The GPU computed 2.0 % of 100.0 ms; the largest loss is 97.0 % exposed copies: Memcpy "
            "HtoD (Pinned -> Device), 97.0 ms (226 copies at 25.0 GB/s).");
  GpuShares exchange = gpu_with(30, 64, 3);
  exchange.communication.what = "AllReduce";
  exchange.communication.what_ns = 60 * kMs;
  exchange.communication.calls = 8;
  RunShares run = run_with({exchange});
  run.steps = 4;
  run.step_ns = 25 * kMs;
  EXPECT_EQ(story_of(run),
            "The GPU computed 30.0 % of 100.0 ms; the largest loss is 64.0 % exposed "
            "communication: AllReduce, 60.0 ms (8 calls), 15.0 ms of each step of 25.0 ms.");
}

TEST(GpuStory, WithoutALossOfTenPerCentItIsGpuBound) {
  GpuShares gpu = gpu_with(91, 0, 0);
  gpu.largest = "gemm";
  gpu.largest_pct = 61;
  EXPECT_EQ(story_of(run_with({gpu})),
            "The GPU computed 91.0 % of 100.0 ms: GPU-bound. gemm is 61.0 % of the GPU's work.");
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
