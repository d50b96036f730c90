#pragma once

#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// What the user named: ranges on the host (record_function, NVTX, steps) and, where the source has
// them, the same as seen on the GPU.
struct Annotation {
  std::string name;
  std::uint64_t calls = 0;       // on the host
  std::int64_t host_ns = 0;      // their durations
  std::uint64_t kernels = 0;     // pieces of GPU work launched by the host inside of it
  std::int64_t gpu_ns = 0;       // how long they ran, summed
  std::uint64_t gpu_ranges = 0;  // as seen on the GPU
  std::int64_t gpu_range_ns = 0;
};

// For each GPU those that it did work for or saw; the first has those of no GPU, too. Most GPU time
// first, then most host time. Nested ranges each count what is inside them; a range inside one of
// the same name counts once.
std::vector<std::vector<Annotation>> annotations(const trace::Trace& trace, const GpuWork& work);

}  // namespace fathom::analyze
