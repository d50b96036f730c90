#include "compare/run.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyze/gpu_work.h"
#include "analyze/memory.h"
#include "analyze/operations.h"
#include "analyze/steps.h"

namespace fathom::compare {
namespace {

using trace::SpanId;
using trace::SpanKind;

constexpr double kBytesPerMb = 1024.0 * 1024.0;

// Which operation a span belongs to. Spans of one name and kind are asked for many times, so that
// each name and kind has its place in a table.
class Operations {
 public:
  explicit Operations(const trace::Trace& trace)
      : trace_(trace), by_id_(trace.names.size() * trace::kSpanKindNames.size(), kUnknown) {}

  std::size_t of(SpanId id) {
    const SpanKind kind = trace_.spans.kind[id];
    std::uint32_t& at = by_id_[trace_.spans.name[id] * trace::kSpanKindNames.size() +
                               static_cast<std::size_t>(kind)];
    if (at == kUnknown) at = find_or_add(comparable_name(trace_.name(id), kind), kind);
    return at;
  }

  std::vector<RunOperation> found;

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  std::uint32_t find_or_add(const std::string& name, SpanKind kind) {
    const auto [at, is_new] =
        by_name_.try_emplace(name + static_cast<char>('a' + static_cast<int>(kind)),
                             static_cast<std::uint32_t>(found.size()));
    if (is_new) {
      found.emplace_back();
      found.back().name = name;
      found.back().kind = kind;
    }
    return at->second;
  }

  const trace::Trace& trace_;
  std::vector<std::uint32_t> by_id_;  // kUnknown until asked for
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

// Functions of Python are many, and what they do shows in the operations they call.
bool takes_part(SpanKind kind) {
  return kind != SpanKind::unfinished && kind != SpanKind::gpu_annotation &&
         kind != SpanKind::python && kind != SpanKind::overhead;
}

// The innermost operation of a framework, scope or annotation around a span.
SpanId host_operation(const trace::Spans& spans, SpanId id) {
  while (id != trace::kNoSpan) {
    const SpanKind kind = spans.kind[id];
    if (kind == SpanKind::cpu_op || kind == SpanKind::scope || kind == SpanKind::annotation) break;
    id = spans.parent[id];
  }
  return id;
}

void name_launchers(const trace::Trace& trace, Operations& operations) {
  std::unordered_map<std::uint64_t, std::int64_t> by_launcher;  // operation, name → GPU time
  const analyze::GpuWork work = analyze::gpu_work(trace);
  for (const analyze::WorkRow& row : work.rows) {
    if (row.launch == trace::kNoSpan) continue;
    const SpanId host = host_operation(trace.spans, row.launch);
    if (host == trace::kNoSpan) continue;
    by_launcher[std::uint64_t{operations.of(row.span)} << 32 | trace.spans.name[host]] +=
        row.duration_ns();
  }
  std::vector<std::int64_t> most(operations.found.size(), -1);
  for (const auto& [key, ns] : by_launcher) {
    const std::size_t operation = key >> 32;
    std::string name(trace.names.view(static_cast<trace::NameId>(key)));
    RunOperation& launched = operations.found[operation];
    // Ties by name, so that the answer does not depend on the order of a hash table.
    if (ns > most[operation] || (ns == most[operation] && name < launched.launched_by)) {
      most[operation] = ns;
      launched.launched_by = std::move(name);
    }
  }
}

std::optional<std::int64_t> wall_of(const trace::Spans& spans) {
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.kind[id] == SpanKind::unfinished) continue;
    begin = std::min(begin, spans.start_ns[id]);
    end = std::max(end, spans.end_ns(id));
  }
  if (begin > end) return std::nullopt;
  return end - begin;
}

// Of the device that needed the most; of a profile, of the scope that did.
std::optional<std::int64_t> peak_memory_of(const trace::Trace& trace) {
  std::optional<std::int64_t> peak;
  const auto raise = [&](std::int64_t bytes) { peak = std::max(peak.value_or(0), bytes); };
  const auto is_device = [](const trace::MemoryEvent& event) {
    return event.device == trace::MemoryDevice::gpu;
  };
  const auto has_total = [&](const trace::MemoryEvent& event) {
    return !is_device(event) || event.total_allocated;
  };
  if (std::ranges::any_of(trace.memory, is_device)) {
    if (std::ranges::all_of(trace.memory, has_total)) {  // as the source counted it
      for (const trace::MemoryEvent& event : trace.memory) {
        if (is_device(event)) raise(*event.total_allocated);
      }
      return peak;
    }
    for (const analyze::DeviceMemory& device : analyze::memory(trace).devices) {
      if (device.device == trace::MemoryDevice::gpu) raise(device.peak_bytes());
    }
    return peak;
  }
  for (const trace::OperationSummary& summary : trace.operations) {
    if (summary.peak_memory_mb) raise(std::llround(*summary.peak_memory_mb * kBytesPerMb));
  }
  return peak;
}

// What a recorder says of its scopes beside their calls.
void add_memory(const trace::Trace& trace, std::vector<RunOperation>& operations) {
  std::unordered_map<std::string_view, double> peaks;
  for (const trace::OperationSummary& summary : trace.operations) {
    if (summary.peak_memory_mb) peaks[summary.operation] = *summary.peak_memory_mb;
  }
  if (peaks.empty()) return;
  for (RunOperation& operation : operations) {
    if (operation.kind != SpanKind::scope) continue;
    const auto peak = peaks.find(operation.name);
    if (peak != peaks.end()) operation.peak_memory_mb = peak->second;
  }
}

// The figures of a profile that has no calls: its median is the centre, and what its standard
// deviation says of the centre is all that is known of the spread.
Sample sample_of(const trace::OperationSummary& summary) {
  const auto calls = static_cast<double>(summary.calls);
  const double mean = summary.total_ns.value_or(0) / calls;
  Sample sample;
  sample.calls = summary.calls;
  sample.total_ns = summary.total_ns.value_or(0);
  sample.log_centre = std::log(std::max(summary.p50_ns.value_or(mean), 1.0));
  if (summary.std_dev_ns && mean > 0) {
    sample.log_centre_sd = *summary.std_dev_ns / mean / std::sqrt(calls);
  }
  sample.trimmed_mean_ns = mean;
  sample.p95_ns = summary.p95_ns.value_or(mean);
  return sample;
}

void add_figures(const trace::Trace& trace, Operations& operations) {
  for (const trace::OperationSummary& summary : trace.operations) {
    if (summary.calls == 0 || !summary.total_ns) continue;
    RunOperation& operation = operations.found.emplace_back();
    operation.name = summary.operation;
    operation.kind = SpanKind::scope;
    operation.self_ns = std::llround(summary.self_ns.value_or(*summary.total_ns));
    operation.figures = sample_of(summary);
  }
}

// Spans of no known kind, where the trace has others, frame what others say: the profiler itself.
void drop_frames(std::vector<RunOperation>& operations) {
  const auto is_frame = [](const RunOperation& operation) {
    return operation.kind == SpanKind::other;
  };
  if (!std::ranges::all_of(operations, is_frame)) std::erase_if(operations, is_frame);
}

}  // namespace

std::string comparable_name(std::string_view name, SpanKind kind) {
  constexpr std::string_view kStep = "ProfilerStep#";
  constexpr std::string_view kLoader = "enumerate(DataLoader)#";
  if (name.starts_with(kStep)) return std::string(kStep.substr(0, kStep.size() - 1));
  if (name.starts_with(kLoader)) return std::string(kLoader.substr(0, kLoader.size() - 1));
  if (kind == SpanKind::runtime_call && name.starts_with("hip")) {
    return "cuda" + std::string(name.substr(3));
  }
  return std::string(name);
}

Run run_of(const trace::Trace& trace, std::string label) {
  Operations operations(trace);
  const std::vector<std::int64_t> self = analyze::self_times(trace.spans);
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (!takes_part(trace.spans.kind[id])) continue;
    RunOperation& operation = operations.found[operations.of(id)];
    operation.ns.push_back(trace.spans.duration_ns[id]);
    operation.self_ns += self[id];
  }
  name_launchers(trace, operations);
  if (trace.spans.size() == 0) add_figures(trace, operations);
  drop_frames(operations.found);
  add_memory(trace, operations.found);
  Run run;
  run.label = std::move(label);
  run.operations = std::move(operations.found);
  run.steps = analyze::step_spans(trace).size();
  run.wall_ns = wall_of(trace.spans);
  run.peak_memory_bytes = peak_memory_of(trace);
  return run;
}

}  // namespace fathom::compare
