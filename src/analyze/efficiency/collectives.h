#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// All collectives of one operation, size and number of ranks on one GPU. Bandwidths are those of
// nccl-tests: `alg` is bytes over time; `bus` is alg times 2(n-1)/n for an all-reduce, (n-1)/n for
// all-gather, reduce-scatter and all-to-all, 1 for others, and can be compared with that of a link
// in one direction. Waiting for other ranks is part of the time, so they are what the program got,
// not what the link can do.
struct CollectiveRate {
  std::string name;        // as the source says: "allreduce"
  std::int64_t bytes = 0;  // the larger of what goes in and comes out
  std::int64_t ranks = 0;  // of the group
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;  // of all of them

  double alg_gb_s() const {
    return static_cast<double>(bytes) * static_cast<double>(count) / static_cast<double>(time_ns);
  }
  double bus_gb_s() const;
  void add(const CollectiveRate& other) {
    count += other.count;
    time_ns += other.time_ns;
  }
};

// Most time first; none where the source does not tell sizes.
std::vector<CollectiveRate> collective_rates(const trace::Trace& trace, const GpuWork& work,
                                             const DeviceWork& device);

// What the bandwidth of a collective of n ranks is multiplied by.
double bus_factor(std::string_view collective, std::int64_t ranks);

}  // namespace fathom::analyze
