#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "base/interval_set.h"

namespace fathom::analyze {

// What GPUs did in a stretch of time, each instant once: compute where any runs, else
// communication, else copies and fills. The order is that of the holistic analysis; here all GPUs
// are one.
struct GpuTime {
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;

  bool operator==(const GpuTime&) const = default;
};

// One answer per window; windows may be in any order and may overlap.
std::vector<GpuTime> gpu_time(const GpuWork& work, std::span<const base::Interval> windows);

}  // namespace fathom::analyze
