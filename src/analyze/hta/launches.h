#pragma once

#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "analyze/hta/name_places.h"
#include "base/duration_stats.h"

namespace fathom::analyze {

// Calls of the runtime or driver (CUDA, HIP, graphs, copies and fills too) that brought work to a
// GPU. A call counts once however much work it brought:
//   cpu    how long the call took on the host
//   gpu    how long its work ran, summed over its pieces
//   delay  from the end of the call to the start of its first work; 0 where that began before
struct LaunchStats {
  std::string name;  // of the call; empty for all together
  base::DurationStats cpu;
  base::DurationStats gpu;
  base::DurationStats delay;
  std::uint64_t short_work = 0;  // launches whose work was over sooner than the call

  std::uint64_t count() const { return cpu.count(); }
};

struct Launches {
  LaunchStats all;
  std::vector<LaunchStats> by_call;  // most launches first; ties by name
};

// `places` has room for each name of the trace.
Launches launches(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                  NamePlaces& places);

}  // namespace fathom::analyze
