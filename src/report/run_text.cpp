#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

std::uint64_t step_count(const RunReport& report) {
  for (const Operation& operation : report.operations) {
    const bool is_step =
        operation.kind == SpanKind::annotation && operation.name == "ProfilerStep#";
    if (is_step) return operation.durations.count();
  }
  return 0;
}

// Makers count memory in powers of two: 34,089,730,048 bytes are sold as 32 GB. Many names say it.
std::string device_name(const trace::DeviceInfo& device) {
  const bool says_size = device.name.find("GB") != std::string::npos;
  if (says_size || !device.memory_bytes) return device.name;
  return fmt::format("{} {:.0f} GB", device.name,
                     static_cast<double>(*device.memory_bytes) / (1U << 30));
}

// The GPUs that did work; a host lists others too. Some sources number the two differently.
std::string device_text(const RunReport& report, const trace::Trace& trace) {
  const std::vector<trace::DeviceInfo>& devices = trace.run.devices;
  if (devices.empty() || report.activity.gpus.empty()) return {};
  const auto known = std::find_if(
      devices.begin(), devices.end(),
      [&](const trace::DeviceInfo& device) { return device.id == report.activity.gpus.front(); });
  const std::string name = device_name(known == devices.end() ? devices.front() : *known);
  if (name.empty()) return {};
  return report.activity.gpus.size() == 1
             ? name
             : fmt::format("{} × {}", report.activity.gpus.size(), name);
}

// The run in one line: what, where, which rank, how long.
std::string headline(const RunReport& report, const trace::Trace& trace) {
  std::vector<std::string> parts;
  parts.push_back(trace.run.command.empty()
                      ? std::filesystem::path(report.source).filename().string()
                      : trace.run.command);
  if (const std::string device = device_text(report, trace); !device.empty())
    parts.push_back(device);
  if (trace.run.rank) {
    parts.push_back(trace.run.world_size
                        ? fmt::format("rank {} of {}", *trace.run.rank, *trace.run.world_size)
                        : fmt::format("rank {}", *trace.run.rank));
  }
  if (const std::uint64_t steps = step_count(report)) {
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
      activity.gpus.size() == 1 ? "The GPU was busy"
                         : fmt::format("The {} GPUs were busy, on average,", activity.gpus.size());
  return fmt::format("  {} {} of the {} between its first and last work ({}, {}).\n", subject,
                     base::format_percent(busy), base::format_duration(window),
                     base::format_plural(activity.gpu_streams, "stream", "streams"), threads);
}

std::string shown_name(const Operation& operation) {
  return operation.name.empty() ? "(no name)" : std::string(operation.name);
}

// GPU work has nothing inside it: its self time is its total.
std::vector<std::string> operation_row(const Operation& operation, bool gpu_side, double whole_ns) {
  const base::DurationStats& stats = operation.durations;
  const double share = whole_ns > 0 ? static_cast<double>(operation.self_ns) / whole_ns * 100 : 0;
  std::vector<std::string> row = {shown_name(operation), base::format_count(stats.count()),
                                  base::format_duration(static_cast<double>(stats.sum_ns()))};
  if (!gpu_side) row.push_back(base::format_duration(static_cast<double>(operation.self_ns)));
  row.push_back(base::format_duration(stats.mean_ns()));
  row.push_back(base::format_duration(stats.quantile_ns(0.5)));
  row.push_back(base::format_duration(stats.quantile_ns(0.99)));
  row.push_back(base::format_percent(share));
  return row;
}

// The `top` operations of one side (GPU or host), by self time. Empty where that side has none.
std::string operation_table(const RunReport& report, bool gpu_side, std::size_t top,
                            std::size_t width) {
  std::vector<const Operation*> side;
  double whole_ns = 0;
  for (const Operation& operation : report.operations) {
    if (operation.is_frame || trace::is_gpu_work(operation.kind) != gpu_side) continue;
    side.push_back(&operation);
    whole_ns += static_cast<double>(operation.self_ns);
  }
  if (side.empty()) return {};
  base::Table table =
      gpu_side
          ? base::Table({"on the GPU", "calls", "total", "mean", "p50", "p99", "share"})
          : base::Table({"on the host", "calls", "total", "self", "mean", "p50", "p99", "share"});
  const std::size_t shown = std::min(top, side.size());
  for (std::size_t i = 0; i < shown; ++i) table.row(operation_row(*side[i], gpu_side, whole_ns));
  std::string text = "\n" + table.text(width);
  if (side.size() > shown) {
    text += fmt::format("  … {} more (--top {})\n", base::format_count(side.size() - shown),
                        side.size());
  }
  return text;
}

std::string bottleneck_list(const RunReport& report, std::size_t width) {
  if (report.bottlenecks.empty()) return {};
  base::Table table({"bottleneck", "self", "share", "together", "spent on"});
  for (const analyze::Bottleneck& bottleneck : report.bottlenecks) {
    const Operation& operation = report.operations[bottleneck.operation];
    table.row({shown_name(operation), base::format_duration(static_cast<double>(operation.self_ns)),
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
  text += operation_table(report, true, top, width);
  text += operation_table(report, false, top, width);
  text += bottleneck_list(report, width);
  return text + "\n";
}

}  // namespace fathom::report
