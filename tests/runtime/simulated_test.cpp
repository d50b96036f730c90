#include "runtime/simulated/simulated.h"

#include <gtest/gtest.h>

#include "fathom/profiler.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

const DeviceModel kModel = {.name = "small",
                            .launch_ns = 5'000,
                            .link_latency_ns = 1'000,
                            .link_bytes_per_second = 1e9,
                            .flops_per_second = 1e9,
                            .memory_bytes_per_second = 1e12,
                            .memory_bytes = 1 << 20};

TEST(Simulated, TimeIsThatOfItsModelAndSlowsDownWithIt) {
  VirtualClock clock;
  SimulatedDevice device(kModel, clock);
  void* const segment = device.allocate(4096);
  std::vector<float> values(1000, 1.0f);
  device.write({segment, 0}, values.data(), 4000);
  EXPECT_EQ(clock.now_ns(), 1'000 + 4'000);
  EXPECT_EQ(device.reduce({segment, 0}, 1000), 1000.0f);
  EXPECT_EQ(clock.now_ns(), 5'000 + 5'000 + 1'000);
  device.slow_down(5);
  device.reduce({segment, 0}, 1000);
  EXPECT_EQ(clock.now_ns(), 11'000 + 5 * 6'000);
  device.release(segment);
}

TEST(Simulated, TheProfilerSeesItsWorkAsThatOfAGpu) {
  RealClock clock;
  SimulatedDevice device(kModel, clock);
  void* const segment = device.allocate(4096);
  std::vector<float> values(1000, 1.0f);
  profiler().reset();
  {
    FATHOM_SCOPE("simulated work");
    device.write({segment, 0}, values.data(), 4000);
    device.reduce({segment, 0}, 1000);
  }
  const OperationFigures figures = profiler().summary().at("simulated work");
  EXPECT_GE(figures.total_gpu_time_ms().value_or(0), 0.005);
  EXPECT_GE(figures.total_transfer_time_ms().value_or(0), 0.004);
  device.release(segment);
}

TEST(Simulated, HasAsMuchMemoryAsItsModelSays) {
  VirtualClock clock;
  SimulatedDevice device(kModel, clock);
  void* const first = device.allocate(1 << 19);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(device.allocate((1 << 19) + 1), nullptr);
  void* const second = device.allocate(1 << 19);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(device.allocated_bytes(), 1u << 20);
  device.release(first);
  device.release(second);
  EXPECT_EQ(device.allocated_bytes(), 0u);
}

TEST(Simulated, DisappearsWhenToldTo) {
  VirtualClock clock;
  SimulatedDevice device(kModel, clock);
  void* const segment = device.allocate(64);
  device.disappear_after(1);
  EXPECT_NO_THROW(device.reduce({segment, 0}, 0));
  EXPECT_THROW(device.reduce({segment, 0}, 0), DeviceLost);
  EXPECT_THROW(device.allocate(1), DeviceLost);
  device.release(segment);
}

}  // namespace
}  // namespace fathom::runtime
