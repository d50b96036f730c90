#include "compare/run.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyze/memory/memory.h"
#include "analyze/operations/steps.h"
#include "analyze/run/wall.h"

namespace fathom::compare {
namespace {

using trace::SpanId;
using trace::SpanKind;

// None where nothing says how long it took.
std::optional<std::int64_t> wall_of(const trace::Trace& trace) {
  const analyze::Wall wall = analyze::wall(trace);
  const bool is_known = wall.basis == analyze::WallBasis::program || trace.spans.size() > 0;
  return is_known ? std::optional(wall.length_ns()) : std::nullopt;
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
  for (const NamedFigures& summary : trace.operations) {
    if (summary.peak_memory_bytes) raise(std::llround(*summary.peak_memory_bytes));
  }
  return peak;
}

// What a recorder says of its scopes beside their calls.
void add_memory(const trace::Trace& trace, std::vector<RunOperation>& operations) {
  std::unordered_map<std::string_view, double> peaks;
  for (const NamedFigures& summary : trace.operations) {
    if (summary.peak_memory_bytes) peaks[summary.operation] = *summary.peak_memory_bytes;
  }
  if (peaks.empty()) return;
  for (RunOperation& operation : operations) {
    if (operation.kind != SpanKind::scope) continue;
    const auto peak = peaks.find(operation.name);
    if (peak != peaks.end()) operation.peak_memory_bytes = peak->second;
  }
}

// The figures of a profile that has no calls: its median is the centre, and what its standard
// deviation says of the centre is all that is known of the spread.
Sample sample_of(const NamedFigures& summary) {
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

void add_figures(const trace::Trace& trace, std::vector<RunOperation>& operations) {
  for (const NamedFigures& summary : trace.operations) {
    if (summary.calls == 0 || !summary.total_ns) continue;
    RunOperation& operation = operations.emplace_back();
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

std::vector<std::int64_t> RunOperation::ns() const {
  std::vector<std::int64_t> all;
  for (const CallSite& site : sites) all.insert(all.end(), site.ns.begin(), site.ns.end());
  return all;
}

Run run_of(const trace::Trace& trace, std::string label) {
  std::vector<RunOperation> operations;
  for (SitesOfOperation& found : call_sites(trace)) {
    RunOperation& operation = operations.emplace_back();
    static_cast<SitesOfOperation&>(operation) = std::move(found);
    for (const CallSite& site : operation.sites) operation.self_ns += site.self_ns;
  }
  if (trace.spans.size() == 0) add_figures(trace, operations);
  drop_frames(operations);
  add_memory(trace, operations);
  Run run;
  run.label = std::move(label);
  run.operations = std::move(operations);
  run.steps = analyze::step_spans(trace).size();
  run.wall_ns = wall_of(trace);
  run.peak_memory_bytes = peak_memory_of(trace);
  return run;
}

}  // namespace fathom::compare
