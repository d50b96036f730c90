#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "base/table.h"
#include "report/run_report.h"

namespace fathom::report {
namespace {

using analyze::Operation;
using trace::SpanKind;

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::uint64_t step_count(const RunReport& report, const trace::Trace& trace) {
  std::uint64_t steps = 0;
  for (const Operation& operation : report.operations) {
    const bool is_step = operation.kind == SpanKind::annotation &&
                         trace.names.view(operation.name).starts_with("ProfilerStep#");
    if (is_step) steps += operation.durations.count();
  }
  return steps;
}

std::string device_text(const trace::Trace& trace) {
  const std::vector<trace::DeviceInfo>& devices = trace.run.devices;
  if (devices.empty() || devices.front().name.empty()) return {};
  std::string text = devices.front().name;
  if (devices.front().memory_bytes) {
    // Makers count memory in powers of two: 34,089,730,048 bytes are sold as 32 GB.
    const double gib = static_cast<double>(*devices.front().memory_bytes) / (1U << 30);
    const std::string size = fmt::format("{:.0f} GB", gib);
    const std::string glued = fmt::format("{:.0f}GB", gib);
    if (text.find(size) == std::string::npos && text.find(glued) == std::string::npos)
      text += " " + size;
  }
  if (devices.size() > 1) text = fmt::format("{} × {}", devices.size(), text);
  return text;
}

// The run in one line: what, where, which rank, how long.
std::string headline(const RunReport& report, const trace::Trace& trace) {
  std::vector<std::string> parts;
  parts.push_back(trace.run.command.empty() ? report.source : trace.run.command);
  if (const std::string device = device_text(trace); !device.empty()) parts.push_back(device);
  if (trace.run.rank) {
    parts.push_back(trace.run.world_size
                        ? fmt::format("rank {} of {}", *trace.run.rank, *trace.run.world_size)
                        : fmt::format("rank {}", *trace.run.rank));
  }
  if (const std::uint64_t steps = step_count(report, trace)) {
    parts.push_back(base::format_plural(steps, "step", "steps"));
  }
  parts.push_back(base::format_duration(
      static_cast<double>(report.activity.end_ns - report.activity.begin_ns)));
  return "  " + join(parts, " · ") + "\n";
}

// The one sentence that tells the story.
std::string story(const RunReport& report, const trace::Trace& trace) {
  const analyze::Activity& activity = report.activity;
  const std::string threads = base::format_plural(activity.threads, "thread", "threads");
  if (trace.spans.size() == 0) return "  No spans in this file.\n";
  if (!activity.gpu_window_ns) {
    return fmt::format("  No GPU work here: {} on {}.\n",
                       base::format_plural(trace.spans.size(), "span", "spans"), threads);
  }
  const auto window = static_cast<double>(*activity.gpu_window_ns);
  const double busy = window > 0 ? static_cast<double>(*activity.gpu_busy_ns) / window * 100 : 100;
  const std::string subject =
      activity.gpus == 1 ? "The GPU was busy"
                         : fmt::format("The {} GPUs were busy, on average,", activity.gpus);
  return fmt::format("  {} {} of the {} between its first and last work ({}, {}).\n", subject,
                     base::format_percent(busy), base::format_duration(window),
                     base::format_plural(activity.gpu_streams, "stream", "streams"), threads);
}

std::vector<std::string> operation_row(const Operation& operation, const trace::Trace& trace,
                                       double whole_ns) {
  const base::DurationStats& stats = operation.durations;
  const double share = whole_ns > 0 ? static_cast<double>(operation.self_ns) / whole_ns * 100 : 0;
  const std::string_view name = trace.names.view(operation.name);
  return {name.empty() ? "(no name)" : std::string(name),
          base::format_count(stats.count()),
          base::format_duration(static_cast<double>(stats.sum_ns())),
          base::format_duration(static_cast<double>(operation.self_ns)),
          base::format_duration(stats.mean_ns()),
          base::format_duration(stats.quantile_ns(0.5)),
          base::format_duration(stats.quantile_ns(0.99)),
          base::format_duration(static_cast<double>(stats.max_ns())),
          base::format_percent(share)};
}

// The `top` operations of one side (GPU or host), by self time. Empty where that side has none.
std::string operation_table(const RunReport& report, const trace::Trace& trace, bool gpu_side,
                            std::size_t top, std::size_t width) {
  std::vector<const Operation*> side;
  double whole_ns = 0;
  for (const Operation& operation : report.operations) {
    if (operation.kind == SpanKind::gpu_annotation) continue;
    if (trace::is_gpu_work(operation.kind) != gpu_side) continue;
    side.push_back(&operation);
    whole_ns += static_cast<double>(operation.self_ns);
  }
  if (side.empty()) return {};
  base::Table table({gpu_side ? "on the GPU" : "on the host", "calls", "total", "self", "mean",
                     "p50", "p99", "max", "share"});
  const std::size_t shown = std::min(top, side.size());
  for (std::size_t i = 0; i < shown; ++i) table.row(operation_row(*side[i], trace, whole_ns));
  std::string text = "\n" + table.text(width);
  if (side.size() > shown) {
    text += fmt::format("  … {} more (--top {})\n", base::format_count(side.size() - shown),
                        side.size());
  }
  return text;
}

std::string bottleneck_list(const RunReport& report, const trace::Trace& trace, std::size_t width) {
  if (report.bottlenecks.empty()) return {};
  base::Table table({"bottleneck", "self", "share", "together", "spent on"});
  for (const analyze::Bottleneck& bottleneck : report.bottlenecks) {
    const Operation& operation = report.operations[bottleneck.operation];
    const std::string_view name = trace.names.view(operation.name);
    table.row({name.empty() ? "(no name)" : std::string(name),
               base::format_duration(static_cast<double>(operation.self_ns)),
               base::format_percent(bottleneck.share_pct),
               base::format_percent(bottleneck.cumulative_pct),
               std::string(analyze::name_of(bottleneck.part))});
  }
  return "\n" + table.text(width);
}

}  // namespace

std::string to_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width) {
  std::string text = "\n" + headline(report, trace) + "\n" + story(report, trace);
  text += operation_table(report, trace, true, top, width);
  text += operation_table(report, trace, false, top, width);
  text += bottleneck_list(report, trace, width);
  return text + "\n";
}

}  // namespace fathom::report
