#include "analyze/hta/gpu_time.h"

#include <array>
#include <utility>

namespace fathom::analyze {

using base::Interval;
using base::IntervalSet;

std::vector<GpuTime> gpu_time(const GpuWork& work, std::span<const Interval> windows) {
  std::array<std::vector<Interval>, kWorkTypeNames.size()> by_type;
  for (const WorkRow& row : work.rows) {
    by_type[static_cast<std::size_t>(row.type)].push_back({row.start_ns, row.end_ns});
  }
  const auto set_of = [&](WorkType type) {
    return base::normalize(std::move(by_type[static_cast<std::size_t>(type)]));
  };
  const IntervalSet compute = set_of(WorkType::compute);
  const IntervalSet kernels = base::unite(compute, set_of(WorkType::communication));
  const IntervalSet all = base::unite(kernels, set_of(WorkType::memory));
  std::vector<GpuTime> times;
  times.reserve(windows.size());
  for (const Interval& window : windows) {
    const std::int64_t compute_ns = base::length_within(compute, window);
    const std::int64_t kernels_ns = base::length_within(kernels, window);
    times.push_back(
        {compute_ns, kernels_ns - compute_ns, base::length_within(all, window) - kernels_ns});
  }
  return times;
}

}  // namespace fathom::analyze
