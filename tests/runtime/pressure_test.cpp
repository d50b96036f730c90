#include <gtest/gtest.h>

#include <map>

#include "fathom/memory_monitor.h"
#include "fathom/memory_pool.h"
#include "runtime/simulated/simulated.h"

namespace fathom::runtime {
namespace {

constexpr std::size_t kMiB = 1 << 20;

// A program that goes twice through 48 results of 4 MiB on a device and computes again what was
// dropped meanwhile. What that took, on the device's clock.
std::int64_t two_passes_ns(std::size_t memory, bool is_monitored) {
  constexpr std::size_t kResults = 48;
  constexpr std::size_t kResultBytes = 4 * kMiB;
  VirtualClock clock;
  SimulatedDevice device({.name = "gpu", .memory_bytes = memory}, clock);
  MemoryPool pool({.name = "gpu",
                   .allocate = [&](std::size_t bytes) { return device.allocate(bytes); },
                   .release = [&](void* segment) noexcept { device.release(segment); },
                   .profiler_device = std::nullopt});
  std::map<std::size_t, PoolBlock> results;
  MemoryMonitor monitor;
  monitor.add(pool_level(pool, static_cast<std::int64_t>(memory)));
  const auto drop_first = [&](std::size_t wanted) {
    std::size_t freed = 0;
    for (; !results.empty() && freed < wanted; results.erase(results.begin())) {
      freed += results.begin()->second.bytes;
      pool.free(results.begin()->second);
    }
    pool.trim();
    return freed;
  };
  if (is_monitored) monitor.on_clean_up(1, drop_first);
  const std::vector<char> data(kResultBytes);
  for (std::size_t step = 0; step < 2 * kResults; ++step) {
    const std::size_t wanted = step % kResults;
    if (!results.contains(wanted)) {
      if (is_monitored) monitor.can_allocate(4, "gpu");
      results[wanted] = pool.allocate(kResultBytes);
      const PoolBlock& block = results[wanted];
      device.write({block.segment, block.offset}, data.data(), kResultBytes);
    }
    const Place place = {results[wanted].segment, results[wanted].offset};
    device.elementwise(Operation::relu, 1, place, place, place, kResultBytes / 4);
  }
  for (const auto& [number, block] : results) pool.free(block);
  return clock.now_ns();
}

TEST(Pressure, ThreeTimesTheMemoryIsSlowerWithAMonitorAndFailsWithoutOne) {
  const std::int64_t with_room = two_passes_ns(256 * kMiB, false);
  const std::int64_t in_a_third = two_passes_ns(64 * kMiB, true);
  EXPECT_GT(in_a_third, with_room);
  EXPECT_LT(in_a_third, 2 * with_room);  // at worst each result is computed once per pass
  RecordProperty("slowdown_percent", static_cast<int>(100 * in_a_third / with_room - 100));
  EXPECT_THROW(two_passes_ns(64 * kMiB, false), OutOfMemory);
}

}  // namespace
}  // namespace fathom::runtime
