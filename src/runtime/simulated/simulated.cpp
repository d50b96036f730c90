#include "runtime/simulated/simulated.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/format.h"
#include "fathom/profiler.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

// Before each segment, so that release() knows how much there is less of.
constexpr std::size_t kHeader = 256;

}  // namespace

SimulatedDevice::SimulatedDevice(const DeviceModel& model, Clock& clock, std::int32_t gpu)
    : Device(model), cpu_(cpu_device()), clock_(clock), gpu_(gpu) {}

std::string SimulatedDevice::description() const {
  return fmt::format("simulated: {} per launch, {:.0f} GFLOP/s, link {:.1f} GB/s",
                     base::format_duration(model_.launch_ns), model_.flops_per_second / 1e9,
                     model_.link_bytes_per_second / 1e9);
}

template <typename Work>
void SimulatedDevice::take(GpuActivity activity, double ns, const Work& work) {
  if (calls_until_lost_ == 0) throw DeviceLost(model_.name + ": the device does not answer");
  if (calls_until_lost_ > 0) --calls_until_lost_;
  activity.start_ns = now_ns();  // first: what is recorded is not shorter than the model
  const std::int64_t begin = clock_.now_ns();
  work();
  clock_.wait_until(begin + std::llround(ns * slowdown_));
  if (!clock_.is_real()) return;
  activity.end_ns = now_ns();
  activity.backend = "simulated";
  activity.device = gpu_;
  activity.queue = 0;
  activity.scope = profiler().innermost_scope();
  profiler().record(activity);
}

template <typename Work>
void SimulatedDevice::compute(Operation operation, double size, const Work& work) {
  GpuActivity kernel;
  kernel.name = name_of(operation);
  take(kernel, modelled_ns(model_, operation, size), work);
}

template <typename Work>
void SimulatedDevice::copy(CopyDirection direction, std::size_t bytes, const Work& work) {
  GpuActivity activity;
  activity.kind = ActivityKind::copy;
  activity.direction = direction;
  activity.name = "copy";
  activity.bytes = bytes;
  take(activity, modelled_transfer_ns(model_, static_cast<double>(bytes)), work);
}

void* SimulatedDevice::allocate(std::size_t bytes) {
  if (calls_until_lost_ == 0) throw DeviceLost(model_.name + ": the device does not answer");
  if (const std::int64_t opening = opening_ns_.exchange(0); opening > 0) {
    clock_.wait_until(clock_.now_ns() + opening);
  }
  std::size_t before = allocated_;
  do {
    if (model_.memory_bytes && (bytes > *model_.memory_bytes - before)) return nullptr;
  } while (!allocated_.compare_exchange_weak(before, before + bytes));
  void* const segment = cpu_->allocate(bytes + kHeader);
  if (segment == nullptr) {
    allocated_ -= bytes;
    return nullptr;
  }
  std::memcpy(segment, &bytes, sizeof bytes);
  return static_cast<char*>(segment) + kHeader;
}

void SimulatedDevice::release(void* segment) noexcept {
  if (segment == nullptr) return;
  void* const begin = static_cast<char*>(segment) - kHeader;
  std::size_t bytes = 0;
  std::memcpy(&bytes, begin, sizeof bytes);
  allocated_ -= bytes;
  cpu_->release(begin);
}

void SimulatedDevice::write(Place to, const void* from, std::size_t bytes) {
  copy(CopyDirection::host_to_device, bytes, [&] { cpu_->write(to, from, bytes); });
}

void SimulatedDevice::read(void* to, Place from, std::size_t bytes) {
  copy(CopyDirection::device_to_host, bytes, [&] { cpu_->read(to, from, bytes); });
}

void SimulatedDevice::xor_words(Place out, Place a, Place b, std::size_t words) {
  compute(Operation::xor_words, static_cast<double>(words),
          [&] { cpu_->xor_words(out, a, b, words); });
}

void SimulatedDevice::matmul(const MatmulShape& shape, Place c, Place a, Place b) {
  compute(Operation::matmul, size_of(shape), [&] { cpu_->matmul(shape, c, a, b); });
}

void SimulatedDevice::elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                                  std::size_t elements) {
  compute(operation, static_cast<double>(elements),
          [&] { cpu_->elementwise(operation, alpha, out, a, b, elements); });
}

float SimulatedDevice::reduce(Place a, std::size_t elements) {
  float sum = 0;
  compute(Operation::reduce, static_cast<double>(elements),
          [&] { sum = cpu_->reduce(a, elements); });
  return sum;
}

void SimulatedDevice::graph_search(const GraphPlaces& graph, std::uint32_t source,
                                   Place distances) {
  compute(Operation::graph_search, static_cast<double>(graph.edges),
          [&] { cpu_->graph_search(graph, source, distances); });
}

std::unique_ptr<Device> simulated_device(const DeviceModel& model, Clock& clock, std::int32_t gpu) {
  return std::make_unique<SimulatedDevice>(model, clock, gpu);
}

}  // namespace fathom::runtime
