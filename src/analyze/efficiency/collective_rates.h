#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/efficiency/collectives.h"

namespace fathom::analyze {

// All collectives of one operation, size and number of ranks on one GPU. Bandwidths are those of
// nccl-tests: `alg` is bytes over time, `bus` is alg times bus_factor and can be compared with that
// of a link in one direction. Waiting for other ranks is part of the time, so they are what the
// program got, not what the link can do.
struct CollectiveRate {
  Exchange exchange = Exchange::other;
  std::string name;        // as the source says: "allreduce"
  std::int64_t bytes = 0;  // the larger of what goes in and comes out
  std::int64_t ranks = 0;  // of the group
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;  // of all of them

  double alg_gb_s() const {
    return static_cast<double>(bytes) * static_cast<double>(count) / static_cast<double>(time_ns);
  }
  double bus_gb_s() const { return alg_gb_s() * bus_factor(exchange, ranks); }
  void add(const CollectiveRate& other) {
    count += other.count;
    time_ns += other.time_ns;
  }
};

// Most time first; none where the source does not tell sizes.
std::vector<CollectiveRate> collective_rates(const GpuWork& work,
                                             std::span<const CollectiveWork> of_one_gpu);

}  // namespace fathom::analyze
