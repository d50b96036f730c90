#include "runtime/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/simulated/simulated.h"
#include "runtime/test_compute.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

struct Tuned {
  Tuned() : path(testing::TempDir() + "/fathom_tune_" + std::to_string(getpid()) + ".json") {
    std::filesystem::remove(path);
    for (const DeviceModel& model : {slow_host(), quick_gpu()}) {
      auto device = std::make_unique<SimulatedDevice>(model, clock);
      simulated.push_back(device.get());
      devices.push_back(std::move(device));
    }
  }
  ~Tuned() { std::filesystem::remove(path); }

  TuneOptions options() {
    TuneOptions own;
    own.path = path;
    own.seconds_per_curve = 0.0002;  // of the clock that stands still but for the devices
    own.progress = [this](const TuneStep& step) { steps.push_back(step.what); };
    return own;
  }

  std::string path;
  VirtualClock clock;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<SimulatedDevice*> simulated;
  std::vector<std::string> steps;
};

TEST(Tune, MeasuresWhatTheDevicesAre) {
  Tuned machine;
  const DeviceModel gpu = measure_model(*machine.devices[1], machine.clock);
  EXPECT_NEAR(gpu.launch_ns, 5'000, 10);
  EXPECT_NEAR(gpu.link_latency_ns, 2'000, 10);
  EXPECT_NEAR(gpu.link_bytes_per_second / 1e10, 1, 0.01);
  const auto calls = measure_curve(*machine.devices[1], machine.clock, Operation::reduce, 0.001);
  ASSERT_GE(calls.size(), 5u);
  for (const CallTime& call : calls) {
    EXPECT_NEAR(call.ns, modelled_ns(quick_gpu(), Operation::reduce, call.size), 1);
  }
}

TEST(Tune, FindsWhereTheGpuBecomesFaster) {
  Tuned machine;
  const MachineProfile profile = tune(machine.devices, machine.clock, machine.options());
  EXPECT_EQ(profile.curves.size(), 2 * kOperations);
  EXPECT_EQ(machine.steps.size(), 2 * kOperations);
  Router router(profile.devices, {.exploration_share = 0});
  apply(profile, router);
  const auto truth = [](const DeviceModel& model, double size) {
    return modelled_ns(model, Operation::matmul, size) +
           modelled_transfers_ns(model, Operation::matmul, size);
  };
  double true_size = 1;
  while (truth(slow_host(), true_size) < truth(quick_gpu(), true_size)) true_size *= 1.01;
  double found = 1;
  while (router.route(Operation::matmul, found).device == 0) found *= 1.01;
  EXPECT_NEAR(found / true_size, 1, 0.1);
}

TEST(Tune, GoesOnWhereItWas) {
  Tuned machine;
  tune(machine.devices, machine.clock, machine.options());
  MachineProfile part = *read_machine_profile(machine.path, machine_name());
  part.curves.resize(3);
  write_machine_profile(machine.path, part);
  const std::int64_t before = machine.clock.now_ns();
  tune(machine.devices, machine.clock, machine.options());
  const std::int64_t rest = machine.clock.now_ns() - before;
  EXPECT_EQ(read_machine_profile(machine.path, machine_name())->curves.size(), 2 * kOperations);
  tune(machine.devices, machine.clock, machine.options());
  EXPECT_EQ(machine.clock.now_ns() - before, rest) << "nothing is left to measure";
  TuneOptions again = machine.options();
  again.begins_anew = true;
  tune(machine.devices, machine.clock, again);
  EXPECT_GT(machine.clock.now_ns() - before, rest);
}

TEST(Tune, MeasuresAnewADeviceThatIsAnotherThanThatOfItsName) {
  Tuned machine;
  tune(machine.devices, machine.clock, machine.options());
  MachineProfile profile = *read_machine_profile(machine.path, machine_name());
  ASSERT_EQ(profile.devices[1].description, machine.devices[1]->description());
  profile.devices[1].description = "the GPU that was sold";
  for (ProfileCurve& curve : profile.curves) curve.calls = {{1, 1}, {1000, 1}};
  write_machine_profile(machine.path, profile);
  const MachineProfile again = tune(machine.devices, machine.clock, machine.options());
  ASSERT_EQ(again.devices.size(), 2u);
  EXPECT_EQ(again.devices[1].description, machine.devices[1]->description());
  EXPECT_EQ(again.curve(Operation::add, "cpu")->calls.size(), 2u) << "as it was";
  EXPECT_GT(again.curve(Operation::add, "gpu")->calls.size(), 2u);
}

TEST(Tune, LeavesOutADeviceThatFails) {
  Tuned machine;
  machine.simulated[1]->disappear_after(20);
  const MachineProfile profile = tune(machine.devices, machine.clock, machine.options());
  ASSERT_EQ(profile.devices.size(), 1u);
  EXPECT_EQ(profile.devices[0].name, "cpu");
  EXPECT_EQ(profile.curves.size(), kOperations);
}

}  // namespace
}  // namespace fathom::runtime
