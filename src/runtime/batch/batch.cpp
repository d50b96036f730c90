#include "fathom/batch.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "fathom/profiler.h"
#include "runtime/batch/batch_item.h"
#include "runtime/compute_state.h"

namespace fathom {

using runtime::BatchItem;
using runtime::BatchItems;

struct Batch::State {
  template <typename T>
  std::size_t add(Operation operation, std::span<T> out, std::span<const T> a, std::span<const T> b,
                  const MatmulShape& shape = {}, float alpha = 1);
  void run_group(BatchItems items, BatchResult& result);
  void run_part(BatchItems part, const Route& route, std::vector<BatchFailure>& failures);
  void run_part_on_host(BatchItems part, std::vector<BatchFailure>& failures);

  Compute& compute;
  BatchOptions options;
  std::vector<BatchItem> items;
};

// Where the items are. What that took is what the router wants to know of the host.
void Batch::State::run_part_on_host(BatchItems part, std::vector<BatchFailure>& failures) {
  Compute::State& state = compute.state();
  const std::size_t failed_before = failures.size();
  const std::int64_t begin = state.clock->now_ns();
  runtime::run_on_host(part, failures);
  const auto took = static_cast<double>(state.clock->now_ns() - begin);
  if (failures.size() != failed_before || !runtime::is_work_of_calls(part)) return;
  const Route route = {.operation = part[0].operation, .size = runtime::size_of(part)};
  state.learn({.route = route, .took_ns = took}, took);
}

void Batch::State::run_part(BatchItems part, const Route& route,
                            std::vector<BatchFailure>& failures) {
  const DeviceModel& device = compute.router().devices()[route.device];
  const auto scope = profiler().profile(
      "batch", {.device = route.device == kHost ? "cpu" : "gpu",
                .size = part.size(),
                .attributes = {{"operation", name_of(route.operation)}, {"runs_on", device.name}}});
  if (route.device == kHost) return run_part_on_host(part, failures);
  try {
    runtime::run_packed(compute, part);
  } catch (const std::exception&) {
    // No memory to pack them, or something nobody thought of: no result was written yet. The host
    // does without packing, and an item that is the reason fails there alone.
    run_part_on_host(part, failures);
  }
}

void Batch::State::run_group(BatchItems group, BatchResult& result) {
  const Router& router = compute.router();
  std::size_t bytes = 0;
  for (const BatchItem& item : group) bytes += item.bytes();
  const Route route =
      router.route(group[0].operation, runtime::size_of(group), kHost, static_cast<double>(bytes));
  const std::size_t most = items_per_call(options, bytes / group.size(),
                                          route.expected_ns / static_cast<double>(group.size()),
                                          router.devices()[route.device].memory_bytes);
  for (std::size_t begin = 0; begin < group.size(); begin += most) {
    run_part(group.subspan(begin, std::min(most, group.size() - begin)), route, result.failures);
    ++result.calls;
  }
}

std::size_t items_per_call(const BatchOptions& options, std::size_t bytes_per_item,
                           double ns_per_item, std::optional<std::uint64_t> memory_bytes) {
  double most = 1e9;
  if (ns_per_item > 0) most = std::min(most, options.most_latency_ms * 1e6 / ns_per_item);
  if (memory_bytes && bytes_per_item > 0) {
    most = std::min(most, options.most_memory_share * static_cast<double>(*memory_bytes) /
                              static_cast<double>(bytes_per_item));
  }
  return static_cast<std::size_t>(std::max(most, 1.0));
}

Batch::Batch(Compute& compute, const BatchOptions& options)
    : state_(new State{compute, options, {}}) {}
Batch::~Batch() = default;
Batch::Batch(Batch&& other) noexcept = default;
Batch& Batch::operator=(Batch&& other) noexcept = default;

std::size_t Batch::size() const {
  return state_->items.size();
}

template <typename T>
std::size_t Batch::State::add(Operation operation, std::span<T> out, std::span<const T> a,
                              std::span<const T> b, const MatmulShape& shape, float alpha) {
  items.push_back({.operation = operation,
                   .shape = shape,
                   .alpha = alpha,
                   .out = out.data(),
                   .a = a.data(),
                   .b = b.data(),
                   .out_elements = out.size(),
                   .a_elements = a.size(),
                   .b_elements = b.size(),
                   .number = items.size()});
  return items.back().number;
}

std::size_t Batch::xor_words(std::span<std::uint32_t> out, std::span<const std::uint32_t> a,
                             std::span<const std::uint32_t> b) {
  return state_->add(Operation::xor_words, out, a, b);
}

std::size_t Batch::matmul(const MatmulShape& shape, std::span<float> c, std::span<const float> a,
                          std::span<const float> b) {
  return state_->add(Operation::matmul, c, a, b, shape);
}

std::size_t Batch::elementwise(Operation operation, std::span<float> out, std::span<const float> a,
                               std::span<const float> b, float alpha) {
  switch (operation) {
    case Operation::add:
    case Operation::multiply:
    case Operation::relu:
      return state_->add(operation, out, a, b);
    case Operation::saxpy:
      return state_->add(operation, out, a, b, {}, alpha);
    default:
      throw base::Error(std::string(name_of(operation)), "not an element-wise operation");
  }
}

BatchResult Batch::run() {
  BatchResult result;
  result.items = state_->items.size();
  const std::int64_t begin = now_ns();
  std::vector<BatchItem> items = std::exchange(state_->items, {});
  const auto is_wrong = [&](const BatchItem& item) {
    try {
      runtime::expect_whole(item);
      return false;
    } catch (const base::Error& error) {
      result.failures.push_back({item.number, error.what()});
      return true;
    }
  };
  std::erase_if(items, is_wrong);
  std::ranges::stable_sort(items, {}, &BatchItem::group);
  for (auto first = items.begin(); first != items.end();) {
    const auto last = std::find_if(
        first, items.end(), [&](const BatchItem& item) { return item.group() != first->group(); });
    state_->run_group({first, last}, result);
    first = last;
  }
  std::ranges::sort(result.failures, {}, &BatchFailure::item);
  result.took_ns = static_cast<double>(now_ns() - begin);
  return result;
}

}  // namespace fathom
