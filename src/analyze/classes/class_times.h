#pragma once

#include <cstdint>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// The GPU work of one class. `sum_ns` adds up the durations of its pieces, as the table of kernels
// does: pieces that ran at the same time count each. So the shares of all classes add up to 100 %.
struct ClassTime {
  KernelClass kernel_class = KernelClass::other;
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
  double share_pct = 0;  // of the summed durations of all work
};

// Classes that occur, most time first.
std::vector<ClassTime> class_times(const GpuWork& work);
std::vector<ClassTime> class_times(const GpuWork& work, const DeviceWork& device);

// Of all GPUs together.
std::vector<ClassTime> join_classes(const std::vector<std::vector<ClassTime>>& gpus);

// Whether they say anything that names of kernels do not: a program with kernels of its own alone
// has copies, fills and others.
bool tell_anything(const std::vector<ClassTime>& classes);

// The class that most of the time of a name's work is of; of names that are not of GPU work,
// `other`. By name.
std::vector<KernelClass> classes_by_name(const trace::Trace& trace, const GpuWork& work);

}  // namespace fathom::analyze
