#pragma once

#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "base/duration_stats.h"

namespace fathom::analyze {

// Copies and fills of one direction ("Memcpy HtoD", "Memset"), of those that say how many bytes
// they moved. The rate of one is its bytes by its duration; GB/s is 10⁹ bytes per second.
struct Bandwidth {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t busy_ns = 0;           // in which at least one of them ran
  std::optional<double> mean_gb_s;    // all bytes by that time
  std::optional<double> median_gb_s;  // of single ones with a duration
  std::optional<double> min_gb_s;
  std::optional<double> max_gb_s;
};

// Most bytes first.
std::vector<Bandwidth> bandwidths(const trace::Trace& trace, const GpuWork& work,
                                  const DeviceWork& device);

}  // namespace fathom::analyze
