#pragma once

#include <string>
#include <vector>

#include "analyze/efficiency/efficiency.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/hta/name_places.h"
#include "base/duration_stats.h"

namespace fathom::analyze {

// All work of one name and type on one GPU.
struct KernelStats {
  std::string name;
  WorkType type = WorkType::compute;
  KernelClass kernel_class = KernelClass::other;  // the one that most of its time is of
  base::DurationStats durations;                  // of single calls; they may overlap
  NameFigures figures = {};                       // what it achieved, where that is known
};

// Every kernel, copy and fill: most time first; ties by name. `places` has room for each name of
// the trace as each type.
std::vector<KernelStats> kernels(const trace::Trace& trace, const GpuWork& work,
                                 const DeviceWork& device, NamePlaces& places);

}  // namespace fathom::analyze
