#include "report/page_summary.h"

#include <algorithm>

#include "analyze/split.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "report/page_memory.h"
#include "report/page_story.h"

namespace fathom::report {
namespace {

using analyze::Operation;
using base::Interval;
using base::JsonWriter;
using trace::SpanId;
using trace::SpanKind;

std::optional<std::string_view> text(const std::string& known) {
  return known.empty() ? std::optional<std::string_view>() : std::string_view(known);
}

void write_run(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const trace::RunInfo& run = trace.run;
  json.key("run").begin_object();
  json.key("source").value(report.source).key("format").value(text(run.format));
  json.key("command").value(text(run.command));
  json.key("rank").value(run.rank).key("world_size").value(run.world_size);
  json.key("duration_ns").value(report.activity.end_ns - report.activity.begin_ns);
  json.key("spans").value(trace.spans.size()).key("threads").value(report.activity.threads);
  json.key("gpu_streams").value(report.activity.gpu_streams);
  json.key("devices").begin_array();
  if (const std::string device = device_text(report, trace); !device.empty()) json.value(device);
  json.end_array().end_object();
}

void write_story(JsonWriter& json, const PageStory& story) {
  json.key("story").begin_object().key("headline").value(story.headline);
  json.key("detail").value(story.detail).end_object();
  json.key("cards").begin_array();
  for (const Card& card : story.cards) {
    json.begin_object().key("label").value(card.label).key("value").value(card.value);
    json.key("note").value(card.note).end_object();
  }
  json.end_array().key("ring");
  if (story.ring.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("caption").value(story.ring_caption);
  json.key("total_ns").value(story.ring_total_ns).key("parts").begin_array();
  for (const RingPart& part : story.ring) {
    json.begin_object().key("label").value(part.label).key("part").value(part.part);
    json.key("ns").value(part.ns).end_object();
  }
  json.end_array().end_object();
}

// What the chart of the four parts is cut into.
struct Slices {
  const char* title = "";
  std::vector<Interval> windows;
  std::vector<std::string> labels;
};

constexpr std::string_view kStep = "ProfilerStep#";
constexpr std::size_t kMostSteps = 60;
constexpr std::int64_t kSlices = 48;

// The steps of the first thread that has any.
Slices steps_of(const trace::Trace& trace) {
  Slices slices{"GPU, transfer, overhead and CPU, step by step", {}, {}};
  trace::TrackId track = 0;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const std::string_view name = trace.name(id);
    if (trace.spans.kind[id] != SpanKind::annotation || !name.starts_with(kStep)) continue;
    if (!slices.windows.empty() && trace.spans.track[id] != track) break;
    track = trace.spans.track[id];
    slices.windows.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
    slices.labels.push_back("step " + std::string(name.substr(kStep.size())));
  }
  return slices;
}

Slices slices_of(const RunReport& report, const trace::Trace& trace) {
  Slices steps = steps_of(trace);
  if (steps.windows.size() > 1 && steps.windows.size() <= kMostSteps) return steps;
  Slices slices{"GPU, transfer, overhead and CPU over the run", {}, {}};
  const std::int64_t begin = report.activity.begin_ns;
  const std::int64_t length = report.activity.end_ns - begin;
  if (length < kSlices) return slices;
  // In double: a run of hours times the number of slices is more than 64 bits of nanoseconds hold.
  const auto at = [&](std::int64_t slice) {
    return static_cast<std::int64_t>(static_cast<double>(length) * static_cast<double>(slice) /
                                     kSlices);
  };
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    slices.windows.push_back({begin + at(slice), begin + at(slice + 1)});
    slices.labels.push_back(base::format_duration(static_cast<double>(at(slice))));
  }
  return slices;
}

void write_slices(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const Slices slices = slices_of(report, trace);
  json.key("slices");
  if (slices.windows.empty()) {
    json.null();
    return;
  }
  const std::vector<analyze::Split> parts = analyze::split(trace, slices.windows);
  json.begin_object().key("title").value(slices.title).key("labels").begin_array();
  for (const std::string& label : slices.labels) json.value(label);
  json.end_array();
  const auto column = [&](const char* name, std::int64_t analyze::Split::*ns) {
    json.key(name).begin_array();
    for (const analyze::Split& part : parts) json.value(part.*ns);
    json.end_array();
  };
  column("gpu_ns", &analyze::Split::gpu_ns);
  column("transfer_ns", &analyze::Split::transfer_ns);
  column("overhead_ns", &analyze::Split::overhead_ns);
  column("cpu_ns", &analyze::Split::cpu_ns);
  json.end_object();
}

std::string_view colour_of(const Operation& operation) {
  const bool communicates = operation.kind == SpanKind::kernel && is_communication(operation.name);
  return communicates ? "comm" : analyze::name_of(analyze::part_of(operation.kind));
}

void write_operations(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  json.key("operations").begin_array();
  for (const Operation& operation : report.operations) {
    if (operation.is_frame) continue;
    if (operation.kind == SpanKind::scope && !trace.operations.empty()) continue;  // are scopes
    const base::DurationStats& stats = operation.durations;
    json.begin_object().key("name").value(operation.name);
    json.key("kind").value(trace::name_of(operation.kind)).key("part").value(colour_of(operation));
    json.key("calls").value(stats.count()).key("total_ns").value(stats.sum_ns());
    json.key("self_ns").value(operation.self_ns).key("mean_ns").value(stats.mean_ns());
    json.key("min_ns").value(stats.min_ns()).key("max_ns").value(stats.max_ns());
    json.key("std_ns").value(stats.std_dev_ns()).key("p50_ns").value(stats.quantile_ns(0.5));
    json.key("p99_ns").value(stats.quantile_ns(0.99)).end_object();
  }
  json.end_array().key("scopes").begin_array();
  for (const trace::OperationSummary& scope : trace.operations) {
    json.begin_object().key("name").value(scope.operation).key("calls").value(scope.calls);
    json.key("errors").value(scope.errors).key("total_ns").value(scope.total_ns);
    json.key("self_ns").value(scope.self_ns).key("min_ns").value(scope.min_ns);
    json.key("max_ns").value(scope.max_ns).key("p50_ns").value(scope.p50_ns);
    json.key("p99_ns").value(scope.p99_ns).key("gpu_ns").value(scope.gpu_ns);
    json.key("cpu_ns").value(scope.cpu_ns).key("transfer_ns").value(scope.transfer_ns);
    json.key("overhead_ns").value(scope.overhead_ns);
    json.key("peak_memory_mb").value(scope.peak_memory_mb).end_object();
  }
  json.end_array();
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

std::string page_summary(const RunReport& report, const trace::Trace& trace) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  write_run(json, report, trace);
  write_story(json, page_story(report, trace));
  write_slices(json, report, trace);
  write_operations(json, report, trace);
  write_bottlenecks(json, report);
  write_memory(json, trace, report.activity.begin_ns);
  json.key("ranks").begin_array().end_array();
  json.key("warnings").begin_array();
  for (const trace::Warning& warning : trace.warnings.all()) json.value(describe(warning));
  json.end_array().end_object();
  return out;
}

}  // namespace fathom::report
