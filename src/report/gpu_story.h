#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/efficiency/efficiency.h"
#include "analyze/run/gpu_shares.h"

// What every report says of the GPUs of a run, first: how much they computed, and the largest loss.
namespace fathom::report {

// One GPU of one run.
struct GpuOfRun {
  const analyze::RunShares* run = nullptr;
  const analyze::GpuShares* gpu = nullptr;
  const analyze::Efficiency* used = nullptr;  // how well; nothing is said of it where absent
};

// What tells a GPU from the others: "GPU 1", "rank 3". Asked for one of many.
using GpuLabel = std::function<std::string(const GpuOfRun&)>;

// The GPUs of one trace, and of each how well it was used.
std::vector<GpuOfRun> gpus_of(const analyze::RunShares& run,
                              std::span<const analyze::Efficiency> used = {});

// "The GPU computed 40.5 % of 382.5 ms; the largest loss is 58.6 % idle: …". Where no loss is 10 %
// of the run and the GPU computes for 80 %, it is GPU-bound, and the largest part of the work is
// named with its efficiency. Of several GPUs, the lowest and the highest share, and the cause of
// the largest loss of any. There is at least one.
std::string gpu_story(std::span<const GpuOfRun> gpus);  // of one trace
std::string gpu_story(std::span<const GpuOfRun> gpus, const GpuLabel& label);

// Of a program that called the runtime of a GPU which did nothing.
std::string story_without_work(const analyze::RunShares& run);

// What stands apart from the run and why, each a sentence; empty where nothing does.
std::string apart_text(const analyze::Wall& wall);

// What keeps GPUs from computing.
enum class LossKind : std::uint8_t { idle, communication, copies };

struct GpuLoss {
  LossKind kind = LossKind::idle;
  std::int64_t ns = 0;
};

GpuLoss largest_loss(const analyze::GpuShares& gpu);

// The cause of the largest part of the idle time.
analyze::IdleCause largest_cause(const analyze::GpuShares& gpu);

// A run is GPU-bound where no loss is as large, and the GPU computes for most of it: three losses
// of 9 % each are a reason to look at them.
inline constexpr double kGpuBoundPct = 10;
inline constexpr double kLeastComputedPct = 80;

}  // namespace fathom::report
