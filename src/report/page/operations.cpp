#include <string_view>

#include "analyze/hta/work_type.h"
#include "report/page/histograms.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

using analyze::Operation;
using base::JsonWriter;
using trace::SpanKind;

std::string_view colour_of(analyze::WorkType type) {
  switch (type) {
    case analyze::WorkType::communication:
      return "comm";
    case analyze::WorkType::memory:
      return "transfer";
    default:
      return "gpu";
  }
}

std::string_view colour_of(const Operation& operation) {
  return trace::is_gpu_work(operation.kind)
             ? colour_of(analyze::work_type(operation.kind, operation.name))
             : analyze::name_of(analyze::part_of(operation.kind));
}

void write_figures(JsonWriter& json, const base::DurationStats& stats) {
  json.key("calls").value(stats.count()).key("total_ns").value(stats.sum_ns());
  json.key("mean_ns").value(stats.mean_ns()).key("min_ns").value(stats.min_ns());
  json.key("max_ns").value(stats.max_ns()).key("std_ns").value(stats.std_dev_ns());
  json.key("p50_ns").value(stats.quantile_ns(0.5)).key("p99_ns").value(stats.quantile_ns(0.99));
}

constexpr std::size_t kMostHistograms = 500;

// Left out where there is nothing in it.
void write_histogram(JsonWriter& json, const Histogram& histogram) {
  if (histogram == Histogram{}) return;
  json.key("histogram").begin_array();
  for (const std::uint64_t calls : histogram) json.value(calls);
  json.end_array();
}

void write_scope(JsonWriter& json, const trace::OperationSummary& scope) {
  json.begin_object().key("name").value(scope.operation).key("calls").value(scope.calls);
  json.key("errors").value(scope.errors).key("total_ns").value(scope.total_ns);
  json.key("self_ns").value(scope.self_ns).key("min_ns").value(scope.min_ns);
  json.key("max_ns").value(scope.max_ns).key("p50_ns").value(scope.p50_ns);
  json.key("p99_ns").value(scope.p99_ns).key("gpu_ns").value(scope.gpu_ns);
  json.key("cpu_ns").value(scope.cpu_ns).key("transfer_ns").value(scope.transfer_ns);
  json.key("overhead_ns").value(scope.overhead_ns);
  json.key("peak_memory_mb").value(scope.peak_memory_mb).end_object();
}

void write_bottlenecks(JsonWriter& json, const RunReport& report) {
  json.key("bottlenecks").begin_array();
  for (const analyze::Bottleneck& bottleneck : report.bottlenecks) {
    const Operation& operation = report.operations[bottleneck.operation];
    json.begin_object().key("name").value(operation.name);
    json.key("part").value(colour_of(operation)).key("self_ns").value(operation.self_ns);
    json.key("share_pct").value(bottleneck.share_pct);
    json.key("cumulative_pct").value(bottleneck.cumulative_pct).end_object();
  }
  json.end_array();
}

}  // namespace

void write_operations(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const std::vector<Histogram> histograms =
      gpu_histograms(trace, report.operations, kMostHistograms);
  json.key("operations").begin_array();
  for (std::size_t i = 0; i < report.operations.size(); ++i) {
    const Operation& operation = report.operations[i];
    if (operation.is_frame) continue;
    if (operation.kind == SpanKind::scope && !trace.operations.empty()) continue;  // are scopes
    json.begin_object().key("name").value(operation.name);
    json.key("kind").value(trace::name_of(operation.kind)).key("part").value(colour_of(operation));
    json.key("self_ns").value(operation.self_ns);
    write_figures(json, operation.durations);
    write_histogram(json, histograms[i]);
    json.end_object();
  }
  json.end_array().key("scopes").begin_array();
  for (const trace::OperationSummary& scope : trace.operations) write_scope(json, scope);
  json.end_array();
  write_bottlenecks(json, report);
}

void write_operations(JsonWriter& json, const HtaReport& hta) {
  json.key("operations").begin_array();
  for (const analyze::KernelStats& kernel : hta.summary.kernels) {
    const bool moves = kernel.type == analyze::WorkType::memory;
    json.begin_object().key("name").value(kernel.name);
    json.key("kind").value(moves ? "copy" : "kernel").key("part").value(colour_of(kernel.type));
    json.key("self_ns").value(kernel.durations.sum_ns());
    write_figures(json, kernel.durations);
    json.end_object();
  }
  json.end_array().key("scopes").begin_array().end_array();
  json.key("bottlenecks").begin_array().end_array();
}

}  // namespace fathom::report
