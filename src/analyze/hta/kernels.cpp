#include "analyze/hta/kernels.h"

#include <algorithm>
#include <array>

namespace fathom::analyze {

std::vector<KernelStats> kernels(const trace::Trace& trace, const GpuWork& work,
                                 const DeviceWork& device, NamePlaces& places) {
  places.begin_list();
  std::vector<KernelStats> found;
  std::vector<std::array<std::int64_t, kKernelClasses>> class_ns;  // of each
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    std::uint32_t& place =
        places.of(row.name * kWorkTypeNames.size() + static_cast<std::size_t>(row.type));
    if (place == NamePlaces::kUnseen) {
      place = static_cast<std::uint32_t>(found.size());
      found.push_back(
          {std::string(trace.names.view(row.name)), row.type, row.kernel_class, {}, {}});
      class_ns.emplace_back();
    }
    found[place].durations.add(row.duration_ns());
    class_ns[place][static_cast<std::size_t>(row.kernel_class)] += row.duration_ns();
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto most = std::ranges::max_element(class_ns[i]);
    if (*most > 0) found[i].kernel_class = static_cast<KernelClass>(most - class_ns[i].begin());
  }
  std::sort(found.begin(), found.end(), [](const KernelStats& a, const KernelStats& b) {
    if (a.durations.sum_ns() != b.durations.sum_ns()) {
      return a.durations.sum_ns() > b.durations.sum_ns();
    }
    return a.name < b.name;
  });
  return found;
}

}  // namespace fathom::analyze
