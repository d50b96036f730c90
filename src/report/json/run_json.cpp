#include "analyze/run/session.h"
#include "base/json_writer.h"
#include "report/class_times_report.h"
#include "report/efficiency_report.h"
#include "report/gpu_story.h"
#include "report/json/document.h"
#include "report/run_report.h"
#include "report/shares_report.h"

namespace fathom::report {
namespace {

void write_run(base::JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const trace::RunInfo& run = trace.run;
  const auto text = [](const std::string& known) {
    return known.empty() ? std::optional<std::string_view>() : std::string_view(known);
  };
  json.key("run").begin_object();
  json.key("source").value(report.source).key("format").value(text(run.format));
  json.key("command").value(text(run.command)).key("title").value(text(run.title));
  json.key("rank").value(run.rank).key("world_size").value(run.world_size);
  json.key("duration_ns").value(report.session.total_ns);
  json.key("spans").value(trace.spans.size()).key("dropped_spans").value(run.dropped_spans);
  json.key("threads").value(report.activity.threads);
  json.key("gpu_streams")
      .value(report.activity.gpu_streams)
      .key("gpus")
      .value(report.activity.gpus.size());
  json.key("gpu_window_ns").value(report.activity.gpu_window_ns);
  json.key("gpu_busy_ns").value(report.activity.gpu_busy_ns);
  json.key("devices").begin_array();
  for (const trace::DeviceInfo& device : run.devices) {
    json.begin_object().key("id").value(device.id).key("name").value(text(device.name));
    json.key("memory_bytes").value(device.memory_bytes);
    json.key("multiprocessors").value(device.multiprocessors).end_object();
  }
  json.end_array();
  write_wall(json, report.shares);
  json.end_object();
}

void write_gpus(base::JsonWriter& json, const RunReport& report) {
  const std::vector<GpuOfRun> gpus = gpus_of(report.shares, report.by_gpu);
  json.key("headline").value(gpus.empty() ? std::nullopt : std::optional(gpu_story(gpus)));
  json.key("gpus").begin_array();
  for (const analyze::GpuShares& gpu : report.shares.gpus) {
    json.begin_object().key("device").value(gpu.device);
    write_shares(json, gpu);
    json.end_object();
  }
  json.end_array();
}

void write_operation(base::JsonWriter& json, const analyze::Operation& operation,
                     const analyze::Efficiency& used) {
  const base::DurationStats& stats = operation.durations;
  json.begin_object().key("name").value(operation.name);
  json.key("kind").value(trace::name_of(operation.kind)).key("class");
  json.value(operation.kernel_class ? std::optional(analyze::name_of(*operation.kernel_class))
                                    : std::nullopt);
  json.key("calls").value(stats.count());
  json.key("total_ns").value(stats.sum_ns()).key("self_ns").value(operation.self_ns);
  json.key("min_ns").value(stats.min_ns()).key("max_ns").value(stats.max_ns());
  json.key("mean_ns").value(stats.mean_ns()).key("std_ns").value(stats.std_dev_ns());
  json.key("p50_ns").value(stats.quantile_ns(0.50)).key("p95_ns").value(stats.quantile_ns(0.95));
  json.key("p99_ns").value(stats.quantile_ns(0.99));
  write_figures(json, used.of(operation.name));
  json.end_object();
}

void write_recorded(base::JsonWriter& json, const NamedFigures& operation) {
  json.begin_object().key("name").value(operation.operation).key("calls").value(operation.calls);
  json.key("errors").value(operation.errors).key("total_ns").value(operation.total_ns);
  json.key("self_ns").value(operation.self_ns).key("min_ns").value(operation.min_ns);
  json.key("max_ns").value(operation.max_ns).key("std_ns").value(operation.std_dev_ns);
  json.key("p50_ns").value(operation.p50_ns).key("p95_ns").value(operation.p95_ns);
  json.key("p99_ns").value(operation.p99_ns).key("gpu_ns").value(operation.gpu_ns);
  json.key("transfer_ns").value(operation.transfer_ns);
  json.key("overhead_ns").value(operation.overhead_ns).key("cpu_ns").value(operation.cpu_ns);
  json.key("avg_memory_mb").value(operation.avg_memory_mb());
  json.key("peak_memory_mb").value(operation.peak_memory_mb());
  json.key("avg_gpu_utilization").value(operation.avg_gpu_utilization).end_object();
}

}  // namespace

std::string to_json(const RunReport& report, const trace::Trace& trace) {
  std::string out;
  base::JsonWriter json(out);
  begin_document(json, "report");
  write_run(json, report, trace);
  write_gpus(json, report);
  json.key("operations").begin_array();
  for (const analyze::Operation& operation : report.operations) {
    write_operation(json, operation, report.efficiency);
  }
  json.end_array();
  write_classes(json, report.classes);
  write_efficiency(json, report.efficiency, SIZE_MAX);
  json.key("recorded_statistics").begin_array();
  for (const NamedFigures& operation : trace.operations) write_recorded(json, operation);
  json.end_array().key("bottlenecks").begin_array();
  for (const analyze::RankedOperation& bottleneck : report.bottlenecks) {
    const analyze::Operation& operation = report.operations[bottleneck.operation];
    json.begin_object().key("name").value(operation.name);
    json.key("kind").value(trace::name_of(operation.kind)).key("self_ns").value(operation.self_ns);
    json.key("share_pct").value(bottleneck.share_pct);
    json.key("cumulative_pct").value(bottleneck.cumulative_pct);
    json.key("part").value(analyze::name_of(bottleneck.part)).end_object();
  }
  json.end_array().key("warnings").begin_array();
  for (const trace::Warning& warning : trace.warnings.all()) {
    json.begin_object().key("text").value(describe(warning)).key("count").value(warning.count);
    json.key("first_byte").value(warning.first_byte).end_object();
  }
  json.end_array();
  if (analyze::is_fathom_run(trace)) write_session(json.key("session"), report.session);
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::report
