// The CUDA backend on libraries that stand in for NVIDIA's; tests/runtime/conformance_test.cpp runs
// over it too.
#include "runtime/cuda/cuda.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/compute_state.h"

namespace fathom::runtime::cuda_test {

std::vector<std::unique_ptr<Device>> stand_in() {
  return cuda_devices({STAND_IN_DRIVER, STAND_IN_CUBLAS});
}

TEST(Cuda, NoDriverIsNoDevice) {
  EXPECT_TRUE(cuda_devices({"libno_driver.so", {}}).empty());
  EXPECT_TRUE(cuda_devices({STAND_IN_CUBLAS, {}}).empty()) << "a library without its functions";
}

TEST(Cuda, SaysWhatTheDeviceIs) {
  const auto devices = stand_in();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0]->model().name, "cuda:0");
  EXPECT_EQ(devices[0]->description(), "stand-in");
  EXPECT_EQ(devices[0]->model().memory_bytes, std::size_t{1} << 30);
  EXPECT_FALSE(devices[0]->model().shares_host_memory);
}

TEST(Cuda, WithoutRoomThereIsNoSegment) {
  const auto devices = stand_in();
  EXPECT_EQ(devices[0]->allocate(std::size_t{2} << 30), nullptr);
  void* const segment = devices[0]->allocate(100);
  EXPECT_NE(segment, nullptr);
  devices[0]->release(segment);
}

// STAND_IN_FAILS: kernels cannot be launched any more.
TEST(Cuda, ADeviceThatFailsIsLeftAndTheResultIsRight) {
  auto devices = stand_in();
  devices.insert(devices.begin(), cpu_device());
  Compute compute(std::make_unique<Compute::State>(
      std::move(devices), std::make_unique<RealClock>(), RouterOptions{.exploration_share = 0}));
  std::vector<std::string> events;
  compute.on_event([&](const ComputeEvent& event) { events.push_back(event.what); });
  compute.router().force(Operation::add, 1);
  const std::vector<float> a(1000, 1.5f);
  std::vector<float> sum(1000);
  EXPECT_EQ(compute.add(sum, a, a).route.device, 1u);
  EXPECT_EQ(sum, std::vector<float>(1000, 3.0f));
  setenv("STAND_IN_FAILS", "1", 1);
  EXPECT_EQ(compute.add(sum, sum, a).route.device, kHost);
  unsetenv("STAND_IN_FAILS");
  EXPECT_EQ(sum, std::vector<float>(1000, 4.5f));
  EXPECT_EQ(events, std::vector<std::string>{
                        "cuda:0: cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED; continuing "
                        "without it"});
  EXPECT_TRUE(compute.router().is_lost(1));
}

}  // namespace fathom::runtime::cuda_test
