#include "trace/read/perfetto/run.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "perfetto/fields.h"
#include "perfetto/operation_packet.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr std::int64_t kMaxShift = std::int64_t{1} << 62;

NamedFigures read_operation(std::string_view message) {
  NamedFigures operation;
  for (Fields f(message); f.next();) {
    if (f.number() == pf::fathom_operation::kName) operation.operation = f.bytes();
    if (f.number() == pf::fathom_operation::kCalls) operation.calls = f.value();
    if (f.number() == pf::fathom_operation::kErrors) operation.errors = f.value();
    for (const pf::OperationPacketField& field : pf::kOperationPacketFields) {
      if (field.number != f.number()) continue;
      operation.*field.member = field.is_whole ? static_cast<double>(f.value()) : f.real();
    }
  }
  return operation;
}

ScopeEnd read_scope_end(std::string_view message) {
  ScopeEnd end;
  for (Fields f(message); f.next();) {
    if (f.number() == pf::fathom_scope_end::kTrack) end.track = f.value();
    if (f.number() == pf::fathom_scope_end::kName) end.name = f.bytes();
    if (f.number() == pf::fathom_scope_end::kStartNs) end.start_ns = f.signed_value();
    if (f.number() == pf::fathom_scope_end::kEndNs) end.end_ns = f.signed_value();
  }
  return end;
}

DeviceInfo read_device(std::string_view message) {
  DeviceInfo device;
  for (Fields f(message); f.next();) {
    if (f.number() == pf::fathom_device::kId) device.id = f.signed_value();
    if (f.number() == pf::fathom_device::kName) device.name = f.bytes();
    if (f.number() == pf::fathom_device::kMemoryBytes) device.memory_bytes = f.signed_value();
    if (f.number() == pf::fathom_device::kMultiprocessors) {
      device.multiprocessors = f.signed_value();
    }
  }
  return device;
}

template <typename Join>
void join(std::optional<double>& into, const std::optional<double>& other, Join&& both) {
  into = into && other ? std::optional(both(*into, *other)) : std::nullopt;
}

// Figures of two processes together. Quantiles cannot be had from quantiles.
void merge(OperationFigures& into, const OperationFigures& other) {
  const auto sum = [](double a, double b) { return a + b; };
  if (into.std_dev_ns && other.std_dev_ns && into.total_ns && other.total_ns) {
    const auto n = static_cast<double>(into.calls);
    const auto m = static_cast<double>(other.calls);
    const double apart = *into.mean_ns() - *other.mean_ns();
    into.std_dev_ns =
        std::sqrt((n * *into.std_dev_ns * *into.std_dev_ns +
                   m * *other.std_dev_ns * *other.std_dev_ns + apart * apart * n * m / (n + m)) /
                  (n + m));
  } else {
    into.std_dev_ns.reset();
  }
  into.calls += other.calls;
  into.errors =
      into.errors && other.errors ? std::optional(*into.errors + *other.errors) : std::nullopt;
  join(into.total_ns, other.total_ns, sum);
  if (other.nested_ns) into.nested_ns = into.nested_ns.value_or(0) + *other.nested_ns;
  join(into.self_ns, other.self_ns, sum);
  join(into.min_ns, other.min_ns, [](double a, double b) { return std::min(a, b); });
  join(into.max_ns, other.max_ns, [](double a, double b) { return std::max(a, b); });
  into.p50_ns.reset();
  into.p95_ns.reset();
  into.p99_ns.reset();
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
      case pf::fathom_run::kVersion:
        is_recording = true;
        break;
      case pf::fathom_run::kCommand:
        if (info.command.empty()) info.command = f.bytes();  // the launcher's, then its children's
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
      case pf::fathom_run::kBeginNs:
        info.begin_ns = f.signed_value();
        break;
      case pf::fathom_run::kEndNs:
        info.end_ns = f.signed_value();
        break;
      case pf::fathom_run::kExitStatus:
        info.exit_status = f.signed_value();
        break;
      case pf::fathom_run::kSignal:
        info.signal = f.signed_value();
        break;
      case pf::fathom_run::kCpuNs:
        info.cpu_ns = f.signed_value();
        break;
      case pf::fathom_run::kDevice:
        add_device(read_device(f.bytes()));
        break;
      case pf::fathom_run::kScopeEnd:
        scope_ends.push_back(read_scope_end(f.bytes()));
        break;
      case pf::fathom_run::kOperation:
        add_operation(read_operation(f.bytes()));
        break;
      case pf::fathom_run::kTimeShiftNs:
        if (f.value() < static_cast<std::uint64_t>(kMaxShift)) time_shift_ns = f.signed_value();
        break;
      default:
        break;
    }
  }
  // Of several processes the first will do: their clocks are the same.
  if (unix_ns && start_ns && !info.base_time_ns) {
    info.base_time_ns = static_cast<std::int64_t>(*unix_ns - *start_ns);
  }
}

// The processes of a run each tell of their own scopes and devices; a run has each once.
void FathomRun::add_operation(NamedFigures operation) {
  const auto known =
      std::find_if(operations.begin(), operations.end(),
                   [&](const NamedFigures& each) { return each.operation == operation.operation; });
  if (known == operations.end()) {
    operations.push_back(std::move(operation));
  } else {
    merge(*known, operation);
  }
}

void FathomRun::add_device(DeviceInfo device) {
  const bool is_known = std::any_of(
      info.devices.begin(), info.devices.end(),
      [&](const DeviceInfo& each) { return each.id == device.id && each.name == device.name; });
  if (!is_known) info.devices.push_back(std::move(device));
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
