#include "runtime/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

namespace fathom {
namespace {

constexpr std::array<std::string_view, kOperations> kOperationNames = {
    "xor", "matmul", "add", "multiply", "relu", "saxpy", "reduce", "graph_search"};

}  // namespace

std::string_view name_of(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

std::optional<Operation> operation_named(std::string_view name) {
  const auto found = std::ranges::find(kOperationNames, name);
  if (found == kOperationNames.end()) return std::nullopt;
  return static_cast<Operation>(found - kOperationNames.begin());
}

}  // namespace fathom

namespace fathom::runtime {
namespace {

constexpr double kWord = 4;  // bytes of a float, and of an XOR word

}  // namespace

double flops_of(Operation operation, double size) {
  switch (operation) {
    case Operation::matmul:
      return 2 * size * size * size;
    case Operation::saxpy:
      return 2 * size;
    case Operation::graph_search:
      return 16 * size;  // each edge is looked up in memory, in no order
    default:
      return size;
  }
}

double bytes_in(Operation operation, double size) {
  switch (operation) {
    case Operation::matmul:
      return 2 * kWord * size * size;
    case Operation::relu:
    case Operation::reduce:
      return kWord * size;
    case Operation::graph_search:
      return 1.25 * kWord * size;  // targets, and the offsets of nodes of four edges
    default:
      return 2 * kWord * size;
  }
}

double bytes_out(Operation operation, double size) {
  switch (operation) {
    case Operation::matmul:
      return kWord * size * size;
    case Operation::reduce:
      return 0;
    case Operation::graph_search:
      return 0.25 * kWord * size;
    default:
      return kWord * size;
  }
}

double growth_of(Operation operation) {
  return operation == Operation::matmul ? 3 : 1;
}

double size_of(const MatmulShape& shape) {
  return std::cbrt(static_cast<double>(shape.rows) * static_cast<double>(shape.inner) *
                   static_cast<double>(shape.columns) * static_cast<double>(shape.batch));
}

double bytes_of(const MatmulShape& shape) {
  const auto rows = static_cast<double>(shape.rows);
  const auto inner = static_cast<double>(shape.inner);
  const auto columns = static_cast<double>(shape.columns);
  return kWord * static_cast<double>(shape.batch) *
         (rows * inner + inner * columns + rows * columns);
}

double modelled_ns(const DeviceModel& model, Operation operation, double size) {
  const double computing = flops_of(operation, size) / model.flops_per_second;
  const double moving = bytes_touched(operation, size) / model.memory_bytes_per_second;
  return model.launch_ns + std::max(computing, moving) * 1e9;
}

double modelled_transfer_ns(const DeviceModel& model, double bytes) {
  if (model.shares_host_memory) return 0;
  return model.link_latency_ns + bytes / model.link_bytes_per_second * 1e9;
}

double modelled_transfers_of(const DeviceModel& model, Operation operation, double bytes) {
  if (model.shares_host_memory) return 0;
  double transfers = 3;  // two operands, one result
  if (operation == Operation::relu) transfers = 2;
  if (operation == Operation::reduce) transfers = 1;  // a sum comes with the answer
  return transfers * model.link_latency_ns + bytes / model.link_bytes_per_second * 1e9;
}

double modelled_transfers_ns(const DeviceModel& model, Operation operation, double size) {
  return modelled_transfers_of(model, operation, bytes_touched(operation, size));
}

DeviceModel default_cpu() {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return {.name = "cpu",
          .shares_host_memory = true,
          .launch_ns = 100,
          .flops_per_second = 2e10 * cores,
          .memory_bytes_per_second = 1e10};
}

DeviceModel default_device(const std::string& name, bool is_cpu) {
  DeviceModel model = {.name = name,
                       .launch_ns = 20'000,
                       .link_latency_ns = 10'000,
                       .link_bytes_per_second = 8e9,
                       .flops_per_second = 2e12,
                       .memory_bytes_per_second = 2e11};
  if (!is_cpu) return model;
  // A CPU that is called a device: it computes as the host does, later.
  const DeviceModel host = default_cpu();
  model.launch_ns = 50'000;
  model.flops_per_second = host.flops_per_second / 2;
  model.memory_bytes_per_second = host.memory_bytes_per_second;
  return model;
}

}  // namespace fathom::runtime
