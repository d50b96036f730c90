#include "fathom/compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "runtime/compute_state.h"
#ifdef FATHOM_RUNTIME_CUDA
#include "runtime/cuda/cuda.h"
#endif
#include "runtime/machine_profile.h"
#include "runtime/opencl/opencl.h"
#include "runtime/work.h"

namespace fathom {
namespace {

using runtime::Device;
using Places = Compute::State::Places;
using Input = Compute::State::Input;
using Output = Compute::State::Output;

// An array of them would not fit in any memory.
constexpr std::size_t kMostElements = std::size_t{1} << 48;

std::size_t product(std::initializer_list<std::size_t> factors) {
  std::size_t all = 1;
  for (const std::size_t factor : factors) {
    if (factor != 0 && all > kMostElements / factor) {
      throw base::Error("matmul", "the sizes are too large", "Their product overflows");
    }
    all *= factor;
  }
  return all;
}

// Elements from the first to behind the last of a batch.
std::size_t extent(std::size_t each, std::size_t stride, std::size_t batch) {
  if (batch == 0) return 0;
  if (stride != 0 && stride < each) {
    throw base::Error(
        "matmul", fmt::format("a stride of {} is less than a matrix of {} elements", stride, each));
  }
  return product({stride != 0 ? stride : each, batch - 1}) + each;
}

void expect_elements(std::string_view operation, std::string_view what, std::size_t has,
                     std::size_t needs) {
  if (has == needs) return;
  throw base::Error(std::string(operation),
                    fmt::format("{} has {} elements, not {}", what, has, needs));
}

void expect_product(const MatmulShape& shape, std::size_t c, std::size_t a, std::size_t b) {
  // The libraries that multiply count rows by int.
  if (std::max({shape.rows, shape.inner, shape.columns}) > INT32_MAX) {
    throw base::Error("matmul", "the sizes are too large", "An edge is at most 2,147,483,647");
  }
  const std::size_t each_a = product({shape.rows, shape.inner});
  const std::size_t each_b = product({shape.inner, shape.columns});
  const std::size_t each_c = product({shape.rows, shape.columns});
  expect_elements("matmul", "a", a, extent(each_a, shape.stride_a, shape.batch));
  expect_elements("matmul", "b", b, extent(each_b, shape.stride_b, shape.batch));
  expect_elements("matmul", "c", c, extent(each_c, shape.stride_c, shape.batch));
}

Ran elementwise_of_host(Compute::State& state, Operation operation, float alpha,
                        std::span<float> out, std::span<const float> a, std::span<const float> b) {
  expect_elements(name_of(operation), "the result", out.size(), a.size());
  const bool has_two = operation != Operation::relu;
  if (has_two) expect_elements(name_of(operation), "b", b.size(), a.size());
  const std::array<Input, 2> inputs = {Input{a.data(), a.size_bytes()},
                                       Input{b.data(), b.size_bytes()}};
  const std::array<Output, 1> outputs = {Output{out.data(), out.size_bytes()}};
  return state.run(
      operation, static_cast<double>(a.size()), std::span(inputs).first(has_two ? 2 : 1), outputs,
      [&](Device& device, Places in, Places to) {
        device.elementwise(operation, alpha, to[0], in[0], in[has_two ? 1 : 0], a.size());
      });
}

void expect_graph(std::span<const std::uint32_t> offsets, std::span<const std::uint32_t> targets,
                  std::size_t nodes, std::uint32_t source) {
  const auto fail = [](const std::string& what) { throw base::Error("graph_search", what); };
  if (offsets.size() != nodes + 1) {
    fail(fmt::format("{} offsets for {} nodes, not one more", offsets.size(), nodes));
  }
  if (source >= nodes) fail(fmt::format("no node {}", source));
  for (std::size_t node = 0; node < nodes; ++node) {
    if (offsets[node] > offsets[node + 1]) fail(fmt::format("offsets fall at node {}", node));
  }
  if (offsets[nodes] != targets.size()) {
    fail(
        fmt::format("offsets end at {}, and there are {} targets", offsets[nodes], targets.size()));
  }
  for (const std::uint32_t target : targets) {
    if (target >= nodes) fail(fmt::format("an edge leads to node {} of {}", target, nodes));
  }
}

std::unique_ptr<Compute::State> state_of_this_machine(const ComputeOptions& options) {
  auto clock = std::make_unique<runtime::RealClock>();
  auto devices = runtime::devices_of_this_machine(options, *clock);
  RouterOptions router = options.router;
  if (const char* const told = std::getenv("FATHOM_ROUTE");
      told != nullptr && !router.environment) {
    router.environment = told;
  }
  std::optional<runtime::MachineProfile> profile;
  if (options.uses_machine_profile) {
    profile = runtime::machine_profile_or_why_not(runtime::machine_profile_path());
  }
  return std::make_unique<Compute::State>(std::move(devices), std::move(clock), router,
                                          profile ? &*profile : nullptr);
}

}  // namespace

std::vector<std::unique_ptr<Device>> runtime::devices_of_this_machine(const ComputeOptions& options,
                                                                      Clock& clock) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(cpu_device());
#ifdef FATHOM_RUNTIME_CUDA
  if (options.uses_cuda) {
    for (auto& device : cuda_devices()) devices.push_back(std::move(device));
  }
#endif
  if (options.uses_opencl) {
    for (auto& device : opencl_devices()) devices.push_back(std::move(device));
  }
  for (const DeviceModel& model : options.simulated) {
    const auto gpu = static_cast<std::int32_t>(devices.size() - 1);  // as its pool says
    devices.push_back(simulated_device(model, clock, gpu));
  }
  return devices;
}

Compute::Compute(const ComputeOptions& options) : Compute(state_of_this_machine(options)) {}
Compute::Compute(std::unique_ptr<State> state) : state_(std::move(state)) {}
Compute::~Compute() = default;

Ran Compute::xor_words(std::span<std::uint32_t> out, std::span<const std::uint32_t> a,
                       std::span<const std::uint32_t> b) {
  expect_elements("xor", "the result", out.size(), a.size());
  expect_elements("xor", "b", b.size(), a.size());
  const std::array<Input, 2> inputs = {Input{a.data(), a.size_bytes()},
                                       Input{b.data(), b.size_bytes()}};
  const std::array<Output, 1> outputs = {Output{out.data(), out.size_bytes()}};
  return state_->run(Operation::xor_words, static_cast<double>(a.size()), inputs, outputs,
                     [&](Device& device, Places in, Places to) {
                       device.xor_words(to[0], in[0], in[1], a.size());
                     });
}

Ran Compute::matmul(const MatmulShape& shape, std::span<float> c, std::span<const float> a,
                    std::span<const float> b) {
  expect_product(shape, c.size(), a.size(), b.size());
  if (c.empty()) return {};
  const std::array<Input, 2> inputs = {Input{a.data(), a.size_bytes()},
                                       Input{b.data(), b.size_bytes()}};
  const std::array<Output, 1> outputs = {Output{c.data(), c.size_bytes()}};
  return state_->run(
      Operation::matmul, runtime::size_of(shape), inputs, outputs,
      [&](Device& device, Places in, Places to) { device.matmul(shape, to[0], in[0], in[1]); });
}

Ran Compute::add(std::span<float> out, std::span<const float> a, std::span<const float> b) {
  return elementwise_of_host(*state_, Operation::add, 1, out, a, b);
}

Ran Compute::multiply(std::span<float> out, std::span<const float> a, std::span<const float> b) {
  return elementwise_of_host(*state_, Operation::multiply, 1, out, a, b);
}

Ran Compute::relu(std::span<float> out, std::span<const float> a) {
  return elementwise_of_host(*state_, Operation::relu, 1, out, a, {});
}

Ran Compute::saxpy(float alpha, std::span<float> out, std::span<const float> a,
                   std::span<const float> b) {
  return elementwise_of_host(*state_, Operation::saxpy, alpha, out, a, b);
}

Ran Compute::reduce(float& sum, std::span<const float> a) {
  const std::array<Input, 1> inputs = {Input{a.data(), a.size_bytes()}};
  return state_->run(
      Operation::reduce, static_cast<double>(a.size()), inputs, {},
      [&](Device& device, Places in, Places) { sum = device.reduce(in[0], a.size()); });
}

Ran Compute::graph_search(std::span<std::uint32_t> distances,
                          std::span<const std::uint32_t> offsets,
                          std::span<const std::uint32_t> targets, std::uint32_t source) {
  expect_graph(offsets, targets, distances.size(), source);
  const std::array<Input, 2> inputs = {Input{offsets.data(), offsets.size_bytes()},
                                       Input{targets.data(), targets.size_bytes()}};
  const std::array<Output, 1> outputs = {Output{distances.data(), distances.size_bytes()}};
  return state_->run(
      Operation::graph_search, static_cast<double>(targets.size()), inputs, outputs,
      [&](Device& device, Places in, Places to) {
        device.graph_search({in[0], in[1], distances.size(), targets.size()}, source, to[0]);
      });
}

DeviceIndex DeviceData::where() const {
  return content_->where;
}

std::size_t DeviceData::elements() const {
  return content_->elements;
}

DeviceData Compute::put(DeviceIndex device, std::span<const float> values) {
  if (device >= state_->devices.size()) {
    throw base::Error("compute", fmt::format("no device {}", device));
  }
  try {
    DeviceData data(std::make_shared<const DeviceData::Content>(*state_, device, values.size()));
    state_->devices[device]->write(data.content().place(), values.data(), values.size_bytes());
    return data;
  } catch (const runtime::DeviceLost& lost) {
    state_->router.lose(device);
    state_->tell(device, std::string(lost.what()) + "; continuing without it");
    throw std::runtime_error(lost.what());
  }
}

void Compute::get(std::span<float> values, const DeviceData& from) {
  expect_elements("compute", "the result", values.size(), from.elements());
  try {
    state_->devices[from.where()]->read(values.data(), from.content().place(), values.size_bytes());
  } catch (const runtime::DeviceLost& lost) {
    state_->router.lose(from.where());
    state_->tell(from.where(), std::string(lost.what()) + "; what was on it is lost");
    throw std::runtime_error(std::string(lost.what()) + "; what was on it is lost");
  }
}

Ran Compute::matmul(const MatmulShape& shape, const DeviceData& c, const DeviceData& a,
                    const DeviceData& b) {
  expect_product(shape, c.elements(), a.elements(), b.elements());
  if (c.elements() == 0) return {};
  const std::array<DeviceData, 2> inputs = {a, b};
  return state_->run_where(
      Operation::matmul, runtime::size_of(shape), inputs, c,
      [&](Device& device, Places in, Places to) { device.matmul(shape, to[0], in[0], in[1]); });
}

Ran Compute::elementwise(Operation operation, const DeviceData& out, const DeviceData& a,
                         const DeviceData& b, float alpha) {
  const bool has_two = operation == Operation::add || operation == Operation::multiply ||
                       operation == Operation::saxpy;
  if (!has_two && operation != Operation::relu) {
    throw base::Error(std::string(name_of(operation)), "not an element-wise operation");
  }
  expect_elements(name_of(operation), "the result", out.elements(), a.elements());
  if (has_two) expect_elements(name_of(operation), "b", b.elements(), a.elements());
  const std::array<DeviceData, 2> inputs = {a, b};
  return state_->run_where(
      operation, static_cast<double>(a.elements()), std::span(inputs).first(has_two ? 2 : 1), out,
      [&](Device& device, Places in, Places to) {
        device.elementwise(operation, alpha, to[0], in[0], in[has_two ? 1 : 0], a.elements());
      });
}

Router& Compute::router() {
  return state_->router;
}

MemoryPool& Compute::pool(DeviceIndex device) {
  return *state_->pools.at(device);
}

std::string Compute::description(DeviceIndex device) const {
  return state_->devices.at(device)->description();
}

void Compute::on_event(std::function<void(const ComputeEvent&)> listener) {
  const std::lock_guard lock(state_->listener_mutex);
  state_->listeners.push_back(std::move(listener));
}

}  // namespace fathom
