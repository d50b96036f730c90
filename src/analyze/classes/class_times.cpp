#include "analyze/classes/class_times.h"

#include <algorithm>
#include <array>

namespace fathom::analyze {
namespace {

using ClassSums = std::array<ClassTime, kKernelClasses>;

void add(ClassSums& sums, KernelClass kernel_class, std::uint64_t count, std::int64_t ns) {
  ClassTime& sum = sums[static_cast<std::size_t>(kernel_class)];
  sum.count += count;
  sum.sum_ns += ns;
}

std::vector<ClassTime> in_order(const ClassSums& sums) {
  std::int64_t whole_ns = 0;
  for (const ClassTime& sum : sums) whole_ns += sum.sum_ns;
  std::vector<ClassTime> found;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].count == 0) continue;
    found.push_back(sums[i]);
    found.back().kernel_class = static_cast<KernelClass>(i);
    if (whole_ns > 0) {
      found.back().share_pct =
          static_cast<double>(sums[i].sum_ns) / static_cast<double>(whole_ns) * 100;
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &ClassTime::sum_ns);
  return found;
}

}  // namespace

std::vector<ClassTime> class_times(const GpuWork& work) {
  ClassSums sums = {};
  for (const WorkRow& row : work.rows) add(sums, row.kernel_class, 1, row.duration_ns());
  return in_order(sums);
}

std::vector<ClassTime> class_times(const GpuWork& work, const DeviceWork& device) {
  ClassSums sums = {};
  for (const std::uint32_t at : device.by_start) {
    add(sums, work.rows[at].kernel_class, 1, work.rows[at].duration_ns());
  }
  return in_order(sums);
}

std::vector<ClassTime> join_classes(const std::vector<std::vector<ClassTime>>& gpus) {
  ClassSums sums = {};
  for (const std::vector<ClassTime>& gpu : gpus) {
    for (const ClassTime& one : gpu) add(sums, one.kernel_class, one.count, one.sum_ns);
  }
  return in_order(sums);
}

bool tell_anything(const std::vector<ClassTime>& classes) {
  return std::ranges::any_of(classes, [](const ClassTime& one) {
    return one.kernel_class != KernelClass::copy && one.kernel_class != KernelClass::fill &&
           one.kernel_class != KernelClass::other;
  });
}

std::vector<KernelClass> classes_by_name(const trace::Trace& trace, const GpuWork& work) {
  std::vector<std::uint32_t> places(trace.names.size(), UINT32_MAX);
  std::vector<ClassSums> sums;  // of names of GPU work
  for (const WorkRow& row : work.rows) {
    if (places[row.name] == UINT32_MAX) {
      places[row.name] = static_cast<std::uint32_t>(sums.size());
      sums.emplace_back();
    }
    add(sums[places[row.name]], row.kernel_class, 1, row.duration_ns());
  }
  std::vector<KernelClass> found(trace.names.size(), KernelClass::other);
  for (trace::NameId name = 0; name < found.size(); ++name) {
    if (places[name] != UINT32_MAX) found[name] = in_order(sums[places[name]]).front().kernel_class;
  }
  return found;
}

}  // namespace fathom::analyze
