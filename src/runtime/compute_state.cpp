#include "runtime/compute_state.h"

#include <array>
#include <optional>
#include <stdexcept>

#include "base/error.h"
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

std::vector<DeviceModel> models_of(const std::vector<std::unique_ptr<Device>>& devices,
                                   const runtime::MachineProfile* profile) {
  std::vector<DeviceModel> models;
  for (const auto& device : devices) {
    models.push_back(device->model());
    models.back().description = device->description();
  }
  return profile != nullptr ? runtime::with_measured(std::move(models), *profile) : models;
}

}  // namespace

Compute::State::State(std::vector<std::unique_ptr<Device>> own_devices,
                      std::unique_ptr<runtime::Clock> own_clock, const RouterOptions& options,
                      const runtime::MachineProfile* profile)
    : clock(std::move(own_clock)),
      devices(std::move(own_devices)),
      router(models_of(devices, profile), options),
      is_warm(kOperations * devices.size()) {
  if (profile != nullptr) runtime::apply(*profile, router);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Device* const device = devices[i].get();
    MemoryOrigin origin = {
        .name = device->model().name,
        .allocate = [device](std::size_t bytes) { return device->allocate(bytes); },
        .release = [device](void* segment) noexcept { device->release(segment); },
        .profiler_device = device->gpu(),
        .is_recorded = std::string_view(device->backend()) != "simulated"};
    pools.push_back(std::make_unique<MemoryPool>(i == kHost ? host_memory() : std::move(origin)));
  }
}

void Compute::State::tell(DeviceIndex device, const std::string& what) {
  std::vector<std::function<void(const ComputeEvent&)>> own;  // they may compute, and be told too
  {
    const std::lock_guard lock(listener_mutex);
    own = listeners;
  }
  for (const auto& listener : own) listener({devices[device]->model().name, what});
}

void Compute::State::learn(const Ran& ran, double whole_ns) {
  const std::size_t pair =
      static_cast<std::size_t>(ran.route.operation) * devices.size() + ran.route.device;
  if (!is_warm[pair].load(std::memory_order_relaxed)) {
    is_warm[pair] = true;
    router.charge(ran.route, whole_ns);
    return;
  }
  router.learn(ran.route, ran.took_ns, whole_ns);
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
  learn(ran, ran.took_ns);
  return ran;
}

Ran Compute::State::run_on_device(const Route& route, std::span<const Input> inputs,
                                  std::span<const Output> outputs, const Work& work) {
  Device& device = *devices[route.device];
  const std::int64_t begin = clock->now_ns();
  runtime::PoolBlocks blocks(*pools[route.device]);
  std::vector<Place> in;
  std::vector<Place> out;
  for (const Input& input : inputs) in.push_back(blocks.add(input.bytes));
  for (const Output& output : outputs) out.push_back(blocks.add(output.bytes));
  std::int64_t before = clock->now_ns();
  Ran ran = {.route = route, .prepare_ns = static_cast<double>(before - begin)};
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
  learn(ran, static_cast<double>(clock->now_ns() - begin));
  return ran;
}

Ran Compute::State::run(Operation operation, double size, std::span<const Input> inputs,
                        std::span<const Output> outputs, const Work& work) {
  double bytes = 0;
  for (const Input& input : inputs) bytes += static_cast<double>(input.bytes);
  for (const Output& output : outputs) bytes += static_cast<double>(output.bytes);
  return run_routed(router.route(operation, size, kHost, bytes), inputs, outputs, work);
}

Ran Compute::State::run_routed(Route route, std::span<const Input> inputs,
                               std::span<const Output> outputs, const Work& work) {
  while (true) {
    const CallScope scope(route, *devices[route.device]);
    if (devices[route.device]->model().shares_host_memory && route.device == kHost) {
      return run_on_host(route, inputs, outputs, work);
    }
    const std::int64_t begin = clock->now_ns();
    const auto charge = [&] { router.charge(route, static_cast<double>(clock->now_ns() - begin)); };
    try {
      return run_on_device(route, inputs, outputs, work);
    } catch (const runtime::DeviceLost& lost) {
      charge();
      router.lose(route.device);
      tell(route.device, std::string(lost.what()) + "; continuing without it");
      route = router.route(route.operation, route.size, kHost, route.bytes);
    } catch (const OutOfMemory& full) {
      charge();
      tell(route.device, std::string(full.what()) + "; this call runs on the host");
      route.device = kHost;
      route.cause = RouteCause::only_device;
      route.expected_ns =
          router.expected_ns(route.operation, route.size, kHost, kHost, route.bytes).value_or(0);
    }
  }
}

// The data passes the host, as from one device to another it always does.
Ran Compute::State::run_elsewhere(const Route& route, std::span<const DeviceData> inputs,
                                  const DeviceData& output, const Work& work) {
  Device& home = *devices[route.where];
  std::vector<std::vector<float>> copies;
  std::vector<Input> in;
  double moved_ns = 0;
  const auto timed = [&](std::size_t bytes, const auto& move) {
    const std::int64_t begin = clock->now_ns();
    move();
    const auto ns = static_cast<double>(clock->now_ns() - begin);
    router.learn_transfer(route.where, bytes, ns);
    moved_ns += ns;
  };
  for (const DeviceData& input : inputs) {
    const DeviceData::Content& own = input.content();
    std::vector<float>& copy = copies.emplace_back(own.elements);
    timed(own.bytes(), [&] { home.read(copy.data(), own.place(), own.bytes()); });
    in.push_back({copy.data(), own.bytes()});
  }
  std::vector<float> result(output.elements());
  const std::array<Output, 1> out = {Output{result.data(), output.content().bytes()}};
  Ran ran = run_routed(route, in, out, work);
  timed(output.content().bytes(),
        [&] { home.write(output.content().place(), result.data(), output.content().bytes()); });
  ran.transfer_ns += moved_ns;
  return ran;
}

Ran Compute::State::run_where(Operation operation, double size, std::span<const DeviceData> inputs,
                              const DeviceData& output, const Work& work) {
  const DeviceIndex where = output.where();
  auto bytes = static_cast<double>(output.content().bytes());
  std::vector<Place> in;
  for (const DeviceData& input : inputs) {
    if (input.where() != where) {
      throw base::Error(std::string(name_of(operation)), "its data is on several devices",
                        "Put all of it on one");
    }
    bytes += static_cast<double>(input.content().bytes());
    in.push_back(input.content().place());
  }
  const Route route = router.route(operation, size, where, bytes);
  try {
    if (route.device != where) return run_elsewhere(route, inputs, output, work);
    const CallScope scope(route, *devices[where]);
    const std::array<Place, 1> out = {output.content().place()};
    const std::int64_t begin = clock->now_ns();
    work(*devices[where], in, out);
    Ran ran = {.route = route, .took_ns = static_cast<double>(clock->now_ns() - begin)};
    learn(ran, ran.took_ns);
    return ran;
  } catch (const runtime::DeviceLost& lost) {
    router.lose(where);
    tell(where, std::string(lost.what()) + "; what was on it is lost");
    throw std::runtime_error(std::string(lost.what()) + "; what was on it is lost");
  }
}

}  // namespace fathom
