#include <optional>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "report/efficiency_report.h"
#include "report/page/histograms.h"
#include "report/page/part.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

using analyze::Operation;
using analyze::percent_of;
using base::JsonWriter;
using trace::SpanKind;

void write_durations(JsonWriter& json, const base::DurationStats& stats) {
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

// Shares of the operations of a run: by self time of all that is ranked, as its bottlenecks are; of
// GPU work, by its time among all GPU work too.
struct Wholes {
  std::int64_t self_ns = 0;
  std::int64_t gpu_ns = 0;
};

Wholes wholes_of(const std::vector<Operation>& operations) {
  Wholes wholes;
  for (const Operation& operation : operations) {
    if (!operation.is_frame) wholes.self_ns += operation.self_ns;
    if (trace::is_gpu_work(operation.kind)) wholes.gpu_ns += operation.durations.sum_ns();
  }
  return wholes;
}

void write_bottlenecks(JsonWriter& json, const RunReport& report) {
  json.key("bottlenecks").begin_array();
  for (const analyze::RankedOperation& bottleneck : report.bottlenecks) {
    const Operation& operation = report.operations[bottleneck.operation];
    json.begin_object().key("name").value(operation.name);
    json.key("kind").value(trace::name_of(operation.kind));
    json.key("part").value(page_part(operation));
    json.key("self_ns").value(operation.self_ns);
    json.key("share_pct").value(bottleneck.share_pct);
    json.key("cumulative_pct").value(bottleneck.cumulative_pct).end_object();
  }
  json.end_array();
}

void write_scope(JsonWriter& json, const NamedFigures& scope, std::optional<double> share_pct) {
  const bool has_mean = scope.total_ns && scope.calls > 0;
  json.begin_object().key("name").value(scope.operation).key("part").value(page_part(scope));
  json.key("calls").value(scope.calls).key("errors").value(scope.errors);
  json.key("share_pct").value(share_pct).key("total_ns").value(scope.total_ns);
  json.key("self_ns").value(scope.self_ns).key("mean_ns");
  json.value(has_mean ? std::optional(*scope.total_ns / static_cast<double>(scope.calls))
                      : std::nullopt);
  json.key("min_ns").value(scope.min_ns).key("max_ns").value(scope.max_ns);
  json.key("p50_ns").value(scope.p50_ns).key("p99_ns").value(scope.p99_ns);
  json.key("gpu_ns").value(scope.gpu_ns).key("cpu_ns").value(scope.cpu_ns);
  json.key("transfer_ns").value(scope.transfer_ns);
  json.key("overhead_ns").value(scope.overhead_ns).end_object();
}

}  // namespace

void write_scopes(JsonWriter& json, const std::vector<NamedFigures>& scopes,
                  const std::vector<double>& shares) {
  json.key("scopes").begin_array();
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    write_scope(json, scopes[i], shares.empty() ? std::nullopt : std::optional(shares[i]));
  }
  json.end_array();
}

void write_operations(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const std::vector<Histogram> histograms =
      gpu_histograms(trace, report.operations, kMostHistograms);
  const Wholes wholes = wholes_of(report.operations);
  json.key("operations").begin_array();
  for (std::size_t i = 0; i < report.operations.size(); ++i) {
    const Operation& operation = report.operations[i];
    if (operation.is_frame) continue;
    if (operation.kind == SpanKind::scope && !trace.operations.empty()) continue;  // are scopes
    json.begin_object().key("name").value(operation.name);
    json.key("kind").value(trace::name_of(operation.kind)).key("part").value(page_part(operation));
    json.key("class");
    json.value(operation.kernel_class ? std::optional(analyze::name_of(*operation.kernel_class))
                                      : std::nullopt);
    json.key("self_ns").value(operation.self_ns);
    json.key("share_pct").value(percent_of(operation.self_ns, wholes.self_ns)).key("gpu_share_pct");
    json.value(trace::is_gpu_work(operation.kind)
                   ? std::optional(percent_of(operation.durations.sum_ns(), wholes.gpu_ns))
                   : std::nullopt);
    write_durations(json, operation.durations);
    write_figures(json, report.efficiency.of(operation.name));
    write_histogram(json, histograms[i]);
    json.end_object();
  }
  json.end_array();
  write_scopes(json, trace.operations, report.scope_shares);
  write_bottlenecks(json, report);
}

void write_operations(JsonWriter& json, const HtaReport& hta) {
  json.key("operations").begin_array();
  for (const analyze::KernelStats& kernel : hta.summary.kernels) {
    const bool moves = kernel.type == analyze::WorkType::memory;
    json.begin_object().key("name").value(kernel.name);
    json.key("kind").value(moves ? "copy" : "kernel").key("part").value(page_part(kernel.type));
    json.key("class").value(name_of(kernel.kernel_class));
    const double share_pct = percent_of(kernel.durations.sum_ns(), hta.summary.kernel_time_ns);
    json.key("self_ns").value(kernel.durations.sum_ns());
    json.key("share_pct").value(share_pct).key("gpu_share_pct").value(share_pct);
    write_durations(json, kernel.durations);
    write_figures(json, &kernel.figures);
    json.end_object();
  }
  json.end_array().key("scopes").begin_array().end_array();
  json.key("bottlenecks").begin_array().end_array();
}

}  // namespace fathom::report
