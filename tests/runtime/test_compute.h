#pragma once

#include <memory>
#include <vector>

#include "fathom/compute.h"
#include "runtime/compute_state.h"
#include "runtime/simulated/simulated.h"

// A machine of simulated devices on a clock that stands still but for them: the same every time.
namespace fathom::runtime {

inline DeviceModel slow_host() {
  return {.name = "cpu",
          .shares_host_memory = true,
          .launch_ns = 100,
          .flops_per_second = 1e9,
          .memory_bytes_per_second = 1e10};
}

inline DeviceModel quick_gpu() {
  return {.name = "gpu",
          .launch_ns = 5'000,
          .link_latency_ns = 2'000,
          .link_bytes_per_second = 1e10,
          .flops_per_second = 1e13,
          .memory_bytes_per_second = 1e12};
}

struct SimulatedMachine {
  explicit SimulatedMachine(const std::vector<DeviceModel>& models,
                            const RouterOptions& options = {.exploration_share = 0},
                            const MachineProfile* profile = nullptr) {
    auto own_clock = std::make_unique<VirtualClock>();
    clock = own_clock.get();
    std::vector<std::unique_ptr<Device>> own_devices;
    for (const DeviceModel& model : models) {
      const auto gpu = static_cast<std::int32_t>(devices.size()) - 1;
      auto device = std::make_unique<SimulatedDevice>(model, *clock, gpu);
      devices.push_back(device.get());
      own_devices.push_back(std::move(device));
    }
    compute = std::make_unique<Compute>(std::make_unique<Compute::State>(
        std::move(own_devices), std::move(own_clock), options, profile));
    compute->on_event([this](const ComputeEvent& event) { events.push_back(event.what); });
  }

  VirtualClock* clock = nullptr;
  std::vector<SimulatedDevice*> devices;
  std::vector<std::string> events;
  std::unique_ptr<Compute> compute;
};

}  // namespace fathom::runtime
