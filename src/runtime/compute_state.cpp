#include "runtime/compute_state.h"

#include <array>
#include <optional>

#include "fathom/profiler.h"
#include "runtime/memory/pool_blocks.h"

namespace fathom {
namespace {

using runtime::Device;
using runtime::Place;

// A call this short gets the cheapest scope there is; a longer one says where it ran.
constexpr double kShortCallNs = 10'000;

constinit std::array<detail::Site, kOperations> operation_sites = {{{"xor"},
                                                                    {"matmul"},
                                                                    {"add"},
                                                                    {"multiply"},
                                                                    {"relu"},
                                                                    {"saxpy"},
                                                                    {"reduce"},
                                                                    {"graph_search"}}};

// The scope of one call.
class CallScope {
 public:
  CallScope(const Route& route, const Device& device) {
    if (route.expected_ns < kShortCallNs) {
      short_.emplace(operation_sites[static_cast<std::size_t>(route.operation)]);
      return;
    }
    long_ = profiler().profile(name_of(route.operation),
                               {.device = route.device == kHost ? "cpu" : "gpu",
                                .backend = device.backend(),
                                .size = static_cast<std::uint64_t>(route.size),
                                .attributes = {{"runs_on", device.model().name}}});
  }

 private:
  std::optional<detail::FixedScope> short_;
  Scope long_;
};

std::vector<DeviceModel> models_of(const std::vector<std::unique_ptr<Device>>& devices) {
  std::vector<DeviceModel> models;
  for (const auto& device : devices) models.push_back(device->model());
  return models;
}

}  // namespace

Compute::State::State(std::vector<std::unique_ptr<Device>> own_devices,
                      std::unique_ptr<runtime::Clock> own_clock, const RouterOptions& options)
    : clock(std::move(own_clock)),
      devices(std::move(own_devices)),
      router(models_of(devices), options),
      is_warm(kOperations * devices.size()) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Device* const device = devices[i].get();
    const bool is_host = i == kHost;
    // Recorders tell of the memory of devices that exist.
    const bool is_simulated = std::string_view(device->backend()) == "simulated";
    MemoryOrigin origin = {
        .name = device->model().name,
        .allocate = [device](std::size_t bytes) { return device->allocate(bytes); },
        .release = [device](void* segment) noexcept { device->release(segment); },
        .profiler_device = is_simulated && !is_host
                               ? std::optional(static_cast<std::int32_t>(i - 1))
                               : std::nullopt};
    pools.push_back(std::make_unique<MemoryPool>(is_host ? host_memory() : std::move(origin)));
  }
}

void Compute::State::tell(DeviceIndex device, const std::string& what) {
  const std::lock_guard lock(listener_mutex);
  for (const auto& listener : listeners) listener({devices[device]->model().name, what});
}

void Compute::State::learn(const Ran& ran) {
  const std::size_t pair =
      static_cast<std::size_t>(ran.route.operation) * devices.size() + ran.route.device;
  if (!is_warm[pair].load(std::memory_order_relaxed)) {
    is_warm[pair] = true;
    return;
  }
  router.learn(ran.route, ran.took_ns);
}

Ran Compute::State::run_on_host(Route route, std::span<const Input> inputs,
                                std::span<const Output> outputs, const Work& work) {
  std::array<Place, 4> in;
  std::array<Place, 1> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = {const_cast<void*>(inputs[i].data), 0};
  for (std::size_t i = 0; i < outputs.size(); ++i) out[i] = {outputs[i].data, 0};
  const std::int64_t begin = clock->now_ns();
  work(*devices[kHost], std::span(in).first(inputs.size()), std::span(out).first(outputs.size()));
  Ran ran = {.route = route, .took_ns = static_cast<double>(clock->now_ns() - begin)};
  learn(ran);
  return ran;
}

Ran Compute::State::run_on_device(const Route& route, std::span<const Input> inputs,
                                  std::span<const Output> outputs, const Work& work) {
  Device& device = *devices[route.device];
  runtime::PoolBlocks blocks(*pools[route.device]);
  std::vector<Place> in;
  std::vector<Place> out;
  for (const Input& input : inputs) in.push_back(blocks.add(input.bytes));
  for (const Output& output : outputs) out.push_back(blocks.add(output.bytes));
  Ran ran = {.route = route};
  std::int64_t before = clock->now_ns();
  const auto elapsed = [&] {
    const std::int64_t now = clock->now_ns();
    return static_cast<double>(now - std::exchange(before, now));
  };
  const auto count_transfer = [&](std::size_t bytes) {
    const double ns = elapsed();
    ran.transfer_ns += ns;
    router.learn_transfer(route.device, bytes, ns);
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (inputs[i].bytes == 0) continue;
    device.write(in[i], inputs[i].data, inputs[i].bytes);
    count_transfer(inputs[i].bytes);
  }
  work(device, in, out);
  ran.took_ns = elapsed();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (outputs[i].bytes == 0) continue;
    device.read(outputs[i].data, out[i], outputs[i].bytes);
    count_transfer(outputs[i].bytes);
  }
  learn(ran);
  return ran;
}

Ran Compute::State::run(Operation operation, double size, std::span<const Input> inputs,
                        std::span<const Output> outputs, const Work& work) {
  Route route = router.route(operation, size);
  while (true) {
    const CallScope scope(route, *devices[route.device]);
    if (devices[route.device]->model().shares_host_memory && route.device == kHost) {
      return run_on_host(route, inputs, outputs, work);
    }
    try {
      return run_on_device(route, inputs, outputs, work);
    } catch (const runtime::DeviceLost& lost) {
      router.lose(route.device);
      tell(route.device, std::string(lost.what()) + "; continuing without it");
      route = router.route(operation, size);
    } catch (const OutOfMemory& full) {
      tell(route.device, std::string(full.what()) + "; this call runs on the host");
      route.device = kHost;
      route.cause = RouteCause::only_device;
      route.expected_ns = router.expected_ns(operation, size, kHost).value_or(0);
    }
  }
}

}  // namespace fathom
