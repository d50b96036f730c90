#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "fathom/compute.h"
#include "runtime/device.h"
#include "runtime/machine_profile.h"

namespace fathom {

struct Compute::State {
  // Of a profile, the router takes what was measured on these devices.
  State(std::vector<std::unique_ptr<runtime::Device>> own_devices,
        std::unique_ptr<runtime::Clock> own_clock, const RouterOptions& options,
        const runtime::MachineProfile* profile = nullptr);

  // Data of the host that goes to or comes from a device.
  struct Input {
    const void* data;
    std::size_t bytes;
  };
  struct Output {
    void* data;
    std::size_t bytes;
  };
  using Places = std::span<const runtime::Place>;
  using Work = std::function<void(runtime::Device& device, Places in, Places out)>;
  // Routes, moves data where that is needed, works, learns.
  Ran run(Operation operation, double size, std::span<const Input> inputs,
          std::span<const Output> outputs, const Work& work);

  // The same of data that is on a device, and stays there.
  Ran run_where(Operation operation, double size, std::span<const DeviceData> inputs,
                const DeviceData& output, const Work& work);

  // What a call took, in all too.
  void learn(const Ran& ran, double whole_ns);
  void tell(DeviceIndex device, const std::string& what);

  std::unique_ptr<runtime::Clock> clock;  // outlives the devices
  std::vector<std::unique_ptr<runtime::Device>> devices;
  Router router;
  std::vector<std::unique_ptr<MemoryPool>> pools;  // one per device; gone before it
  // The first call of an operation on a device warms it up, and teaches nothing.
  std::vector<std::atomic<bool>> is_warm;
  std::mutex listener_mutex;  // not held while they are called
  std::vector<std::function<void(const ComputeEvent&)>> listeners;

 private:
  Ran run_routed(Route route, std::span<const Input> inputs, std::span<const Output> outputs,
                 const Work& work);
  Ran run_elsewhere(const Route& route, std::span<const DeviceData> inputs,
                    const DeviceData& output, const Work& work);
  Ran run_on_host(Route route, std::span<const Input> inputs, std::span<const Output> outputs,
                  const Work& work);
  Ran run_on_device(const Route& route, std::span<const Input> inputs,
                    std::span<const Output> outputs, const Work& work);
};

struct DeviceData::Content {
  Content(Compute::State& own, DeviceIndex on, std::size_t count)
      : state(own), where(on), elements(count), block(own.pools[on]->allocate(bytes())) {}
  ~Content() { state.pools[where]->free(block); }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  std::size_t bytes() const { return elements * sizeof(float); }
  runtime::Place place() const { return {block.segment, block.offset}; }

  Compute::State& state;
  DeviceIndex where;
  std::size_t elements;
  PoolBlock block;
};

}  // namespace fathom

namespace fathom::runtime {

// The host first, then what there is. Of none that cannot be used.
std::vector<std::unique_ptr<Device>> devices_of_this_machine(const ComputeOptions& options,
                                                             Clock& clock);

}  // namespace fathom::runtime
