#include "trace/read/perfetto_run.h"

#include <optional>

#include "base/perfetto.h"
#include "trace/read/perfetto_fields.h"

namespace fathom::trace {
namespace pf = base::perfetto;
namespace {

constexpr std::int64_t kMaxShift = std::int64_t{1} << 62;

OperationSummary read_operation(std::string_view message) {
  OperationSummary operation;
  for (Fields f(message); f.next();) {
    const auto ns = static_cast<double>(f.value());
    switch (f.number()) {
      case pf::fathom_operation::kName:
        operation.operation = f.bytes();
        break;
      case pf::fathom_operation::kCalls:
        operation.calls = f.value();
        break;
      case pf::fathom_operation::kTotalNs:
        operation.total_ns = ns;
        break;
      case pf::fathom_operation::kSelfNs:
        operation.self_ns = ns;
        break;
      case pf::fathom_operation::kMinNs:
        operation.min_ns = ns;
        break;
      case pf::fathom_operation::kMaxNs:
        operation.max_ns = ns;
        break;
      case pf::fathom_operation::kStdDevNs:
        operation.std_dev_ns = f.real();
        break;
      case pf::fathom_operation::kP50Ns:
        operation.p50_ns = f.real();
        break;
      case pf::fathom_operation::kP95Ns:
        operation.p95_ns = f.real();
        break;
      case pf::fathom_operation::kP99Ns:
        operation.p99_ns = f.real();
        break;
      case pf::fathom_operation::kErrors:
        operation.errors = f.value();
        break;
      default:
        break;
    }
  }
  return operation;
}

DeviceInfo read_device(std::string_view message) {
  DeviceInfo device;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::fathom_device::kId:
        device.id = f.signed_value();
        break;
      case pf::fathom_device::kName:
        device.name = f.bytes();
        break;
      case pf::fathom_device::kMemoryBytes:
        device.memory_bytes = f.signed_value();
        break;
      case pf::fathom_device::kMultiprocessors:
        device.multiprocessors = f.signed_value();
        break;
      default:
        break;
    }
  }
  return device;
}

}  // namespace

void FathomRun::read(std::string_view message) {
  std::optional<std::uint64_t> unix_ns;
  std::optional<std::uint64_t> start_ns;
  const auto add_dropped = [&](std::uint64_t count) {
    info.dropped_spans = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(info.dropped_spans.value_or(0)) + count);
  };
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::fathom_run::kCommand:
        info.command = f.bytes();
        break;
      case pf::fathom_run::kTitle:
        info.title = f.bytes();
        break;
      case pf::fathom_run::kStartUnixNs:
        unix_ns = f.value();
        break;
      case pf::fathom_run::kStartNs:
        start_ns = f.value();
        break;
      case pf::fathom_run::kBaseTimeNs:
        info.base_time_ns = f.signed_value();
        break;
      case pf::fathom_run::kDroppedScopes:
      case pf::fathom_run::kDroppedActivities:
      case pf::fathom_run::kDroppedSpans:
        add_dropped(f.value());
        break;
      case pf::fathom_run::kRank:
        info.rank = f.signed_value();
        break;
      case pf::fathom_run::kWorldSize:
        info.world_size = f.signed_value();
        break;
      case pf::fathom_run::kDevice:
        info.devices.push_back(read_device(f.bytes()));
        break;
      case pf::fathom_run::kOperation:
        operations.push_back(read_operation(f.bytes()));
        break;
      case pf::fathom_run::kTimeShiftNs:
        if (f.value() < static_cast<std::uint64_t>(kMaxShift)) time_shift_ns = f.signed_value();
        break;
      default:
        break;
    }
  }
  if (unix_ns && start_ns) info.base_time_ns = static_cast<std::int64_t>(*unix_ns - *start_ns);
}

void shift_times(TracePart& part, std::int64_t by_ns) {
  for (SpanRow& row : part.spans) row.start_ns += by_ns;
  for (Instant& instant : part.instants) instant.time_ns += by_ns;
  for (MemoryEvent& event : part.memory) event.time_ns += by_ns;
  for (FlowPoint& point : part.flows) point.time_ns += by_ns;
  for (Counter& counter : part.counters) {
    for (std::int64_t& time : counter.time_ns) time += by_ns;
  }
}

}  // namespace fathom::trace
