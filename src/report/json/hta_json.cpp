#include <algorithm>

#include "base/json_writer.h"
#include "report/class_times_report.h"
#include "report/critical_path_report.h"
#include "report/efficiency_report.h"
#include "report/hta_report.h"
#include "report/hta_story.h"
#include "report/json/document.h"
#include "report/ranks_report.h"
#include "report/shares_report.h"

namespace fathom::report {
namespace {

using analyze::percent_of;
using base::JsonWriter;

void write_temporal(JsonWriter& json, const std::optional<analyze::Temporal>& temporal) {
  json.key("temporal");
  if (!temporal) {
    json.null();
    return;
  }
  const auto share = [&](const char* name, std::int64_t ns) {
    json.key(name).value(percent_of(ns, temporal->total_ns));
  };
  json.begin_object().key("total_ns").value(temporal->total_ns);
  json.key("idle_ns").value(temporal->idle_ns).key("compute_ns").value(temporal->compute_ns);
  json.key("communication_ns").value(temporal->communication_ns);
  json.key("memory_ns").value(temporal->memory_ns);
  json.key("non_compute_ns").value(temporal->non_compute_ns());
  share("idle_pct", temporal->idle_ns);
  share("compute_pct", temporal->compute_ns);
  share("communication_pct", temporal->communication_ns);
  share("memory_pct", temporal->memory_ns);
  share("non_compute_pct", temporal->non_compute_ns());
  json.end_object();
}

void write_causes(JsonWriter& json, const analyze::IdleCauses& causes) {
  json.key("host_wait_ns").value(causes.host_wait_ns);
  json.key("kernel_wait_ns").value(causes.kernel_wait_ns).key("other_ns").value(causes.other_ns);
  json.key("host_waits").value(causes.host_waits);
  json.key("kernel_waits").value(causes.kernel_waits).key("others").value(causes.others);
}

void write_idle(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("idle").begin_array();
  for (const analyze::StreamIdle& stream : rank.idle_streams) {
    json.begin_object().key("device").value(stream.device).key("stream").value(stream.stream);
    write_causes(json, stream.causes);
    json.end_object();
  }
  json.end_array().key("idle_device").begin_object();
  write_causes(json, rank.idle);
  json.end_object();
}

void write_kernel(JsonWriter& json, const analyze::KernelStats& kernel) {
  const base::DurationStats& stats = kernel.durations;
  json.key("name").value(kernel.name).key("type").value(name_of(kernel.type));
  json.key("class").value(name_of(kernel.kernel_class));
  json.key("calls").value(stats.count()).key("sum_ns").value(stats.sum_ns());
  json.key("min_ns").value(stats.min_ns()).key("max_ns").value(stats.max_ns());
  json.key("mean_ns").value(stats.mean_ns()).key("std_ns").value(stats.std_dev_ns());
  json.key("p50_ns").value(stats.quantile_ns(0.50)).key("p95_ns").value(stats.quantile_ns(0.95));
  json.key("p99_ns").value(stats.quantile_ns(0.99));
  write_figures(json, &kernel.figures);
}

void write_kernels(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("kernel_types").begin_array();
  for (const analyze::KernelTypeTime& type : rank.kernel_types) {
    json.begin_object().key("type").value(type.type).key("sum_ns").value(type.sum_ns);
    json.key("pct").value(type.pct).end_object();
  }
  json.end_array().key("kernels").begin_array();
  for (const analyze::KernelStats& kernel : rank.kernels) {
    json.begin_object();
    write_kernel(json, kernel);
    json.end_object();
  }
  json.end_array();
  write_classes(json, rank.classes);
  write_efficiency(json, rank.efficiency, SIZE_MAX);
  json.key("comm_comp_overlap_pct").value(rank.comm_comp_overlap_pct);
}

void write_durations(JsonWriter& json, const char* name, const base::DurationStats& stats) {
  json.key(name).begin_object();
  if (stats.count() > 0) {
    json.key("min_ns").value(stats.min_ns()).key("max_ns").value(stats.max_ns());
    json.key("mean_ns").value(stats.mean_ns()).key("std_ns").value(stats.std_dev_ns());
    json.key("p50_ns").value(stats.quantile_ns(0.50)).key("p95_ns").value(stats.quantile_ns(0.95));
    json.key("p99_ns").value(stats.quantile_ns(0.99));
  }
  json.end_object();
}

void write_launch_sums(JsonWriter& json, const analyze::LaunchStats& stats) {
  json.key("count").value(stats.count()).key("cpu_duration_ns").value(stats.cpu.sum_ns());
  json.key("gpu_duration_ns").value(stats.gpu.sum_ns());
  json.key("launch_delay_ns").value(stats.delay.sum_ns());
  json.key("short_work").value(stats.short_work);
}

void write_launches(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("launches").begin_object();
  write_launch_sums(json, rank.launches.all);
  write_durations(json, "cpu_duration", rank.launches.all.cpu);
  write_durations(json, "gpu_duration", rank.launches.all.gpu);
  write_durations(json, "launch_delay", rank.launches.all.delay);
  json.key("unlinked_work").value(rank.unlinked_work);
  json.key("blocked_launches").value(rank.blocked_launches);
  json.key("blocked_launch_ns").value(rank.blocked_launch_ns).key("by_call").begin_array();
  for (const analyze::LaunchStats& call : rank.launches.by_call) {
    json.begin_object().key("name").value(call.name);
    write_launch_sums(json, call);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_queues(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("queue").begin_array();
  for (const analyze::QueueLength& queue : rank.queues) {
    json.begin_object().key("device").value(queue.device).key("stream").value(queue.stream);
    json.key("launched").value(queue.launched).key("window_ns").value(queue.window_ns);
    json.key("mean").value(queue.mean).key("p50").value(queue.p50).key("p95").value(queue.p95);
    json.key("max").value(queue.max).key("empty_ns").value(queue.empty_ns);
    json.key("full_ns").value(queue.full_ns).end_object();
  }
  json.end_array();
}

void write_bandwidths(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("bandwidth").begin_array();
  for (const analyze::Bandwidth& copy : rank.bandwidths) {
    json.begin_object().key("name").value(copy.name).key("count").value(copy.count);
    json.key("bytes").value(copy.bytes).key("busy_ns").value(copy.busy_ns);
    json.key("mean_gb_s").value(copy.mean_gb_s).key("median_gb_s").value(copy.median_gb_s);
    json.key("min_gb_s").value(copy.min_gb_s).key("max_gb_s").value(copy.max_gb_s).end_object();
  }
  json.end_array();
}

void write_annotations(JsonWriter& json, const analyze::RankFindings& rank) {
  json.key("annotations").begin_array();
  for (const analyze::Annotation& one : rank.annotations) {
    json.begin_object().key("name").value(one.name).key("calls").value(one.calls);
    json.key("host_ns").value(one.host_ns).key("kernels").value(one.kernels);
    json.key("gpu_ns").value(one.gpu_ns).key("gpu_ranges").value(one.gpu_ranges);
    json.key("gpu_range_ns").value(one.gpu_range_ns).end_object();
  }
  json.end_array();
}

void write_critical_path(JsonWriter& json, const analyze::RankFindings& rank, std::size_t top) {
  json.key("critical_path");
  if (rank.critical_path && rank.critical_path->total_ns() > 0) {
    write_json(json, *rank.critical_path, top);
  } else {
    json.null();
  }
}

// The run, beside HTA's window, which is `temporal`.
void write_run(JsonWriter& json, const std::optional<analyze::RunShares>& run) {
  json.key("run");
  if (!run) {
    json.null();
    return;
  }
  json.begin_object();
  write_wall(json, *run);
  write_shares(json, run->gpus.front());
  json.end_object();
}

void write_rank(JsonWriter& json, const analyze::RankFindings& rank, std::size_t top) {
  json.begin_object().key("source").value(rank.source).key("rank").value(rank.rank);
  json.key("world_size").value(rank.world_size).key("device").value(rank.device);
  json.key("device_name");
  if (rank.device_name.empty()) {
    json.null();
  } else {
    json.value(rank.device_name);
  }
  json.key("steps").value(rank.steps);
  json.key("leaves_out_last_step").value(rank.leaves_out_last_step);
  write_run(json, rank.in_run);
  write_temporal(json, rank.temporal);
  write_idle(json, rank);
  write_kernels(json, rank);
  write_launches(json, rank);
  write_queues(json, rank);
  write_bandwidths(json, rank);
  write_annotations(json, rank);
  write_critical_path(json, rank, top);
  json.end_object();
}

void write_window_shares(JsonWriter& json, const std::optional<analyze::Temporal>& temporal) {
  const auto share = [&](const char* name, std::int64_t analyze::Temporal::*part) {
    json.key(name).value(temporal ? std::optional(percent_of(*temporal.*part, temporal->total_ns))
                                  : std::nullopt);
  };
  share("gpu_idle_time_pct", &analyze::Temporal::idle_ns);
  share("compute_time_pct", &analyze::Temporal::compute_ns);
  share("communication_time_pct", &analyze::Temporal::communication_ns);
  share("memory_time_pct", &analyze::Temporal::memory_ns);
}

// Of the run, beside those of the window.
void write_run_shares(JsonWriter& json, const std::optional<analyze::Temporal>& in_run) {
  const auto share = [&](const char* name, std::int64_t analyze::Temporal::*part) {
    json.key(name).value(in_run ? std::optional(percent_of(*in_run.*part, in_run->total_ns))
                                : std::nullopt);
  };
  share("run_compute_pct", &analyze::Temporal::compute_ns);
  share("run_exposed_communication_pct", &analyze::Temporal::communication_ns);
  share("run_exposed_copy_pct", &analyze::Temporal::memory_ns);
  share("run_idle_pct", &analyze::Temporal::idle_ns);
}

}  // namespace

std::string to_json(const HtaReport& report, std::size_t top) {
  const analyze::HtaSummary& summary = report.summary;
  std::string out;
  JsonWriter json(out);
  begin_document(json, "hta").key("headline").value(hta_story(report));
  json.key("ranks").begin_array();
  for (const analyze::RankFindings& rank : report.ranks) write_rank(json, rank, top);
  json.end_array();
  write_window_shares(json, summary.temporal);
  write_run_shares(json, summary.in_run);
  json.key("comm_comp_overlap_pct").value(summary.comm_comp_overlap_pct);
  write_classes(json, summary.classes);
  json.key("top_kernels").begin_array();
  for (std::size_t i = 0; i < std::min(top, summary.kernels.size()); ++i) {
    json.begin_object();
    write_kernel(json, summary.kernels[i]);
    json.key("share_pct")
        .value(percent_of(summary.kernels[i].durations.sum_ns(), summary.kernel_time_ns));
    json.end_object();
  }
  json.end_array().key("rank_comparison");
  if (report.comparison) {
    write_json(json, *report.comparison);
  } else {
    json.null();
  }
  json.key("bottlenecks").begin_array();
  for (const analyze::HtaBottleneck& bottleneck : summary.bottlenecks) {
    json.begin_object().key("what").value(name_of(bottleneck.loss));
    json.key("time_ns").value(bottleneck.time_ns).key("share_pct").value(bottleneck.share_pct);
    json.key("text").value(sentence(bottleneck)).end_object();
  }
  json.end_array().key("recommendations").begin_array();
  for (const Recommendation& one : report.recommendations) json.value(sentence(one));
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace fathom::report
