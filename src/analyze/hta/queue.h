#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// How much work of a stream was launched but had not begun, over time: a piece of work waits from
// the start of its launch call to its own start. Means and quantiles are weighted by time, from the
// first launch to the last start. Work whose launch is unknown takes no part.
struct QueueLength {
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::uint64_t launched = 0;
  std::int64_t window_ns = 0;
  double mean = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p95 = 0;
  std::uint64_t max = 0;
  std::int64_t empty_ns = 0;
  std::int64_t full_ns = 0;  // 1,024 or more wait: launching blocks
};

inline constexpr std::uint64_t kFullQueue = 1024;

// One per stream with any launched work.
std::vector<QueueLength> queue_lengths(const trace::Trace& trace, const GpuWork& work,
                                       const DeviceWork& device);

}  // namespace fathom::analyze
