#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyze/run/profile.h"
#include "analyze/run/session.h"
#include "base/format.h"
#include "base/shell_word.h"
#include "base/table.h"
#include "report/efficiency_report.h"
#include "report/gpu_story.h"
#include "report/headline.h"
#include "report/recommendations.h"
#include "report/run_report.h"
#include "report/text/class_table.h"
#include "report/text/more_rows.h"
#include "report/text/session_text.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

using analyze::Operation;
using trace::SpanKind;

// What it is about, in a sentence or two.
std::string story(const RunReport& report, const trace::Trace& trace, std::size_t width) {
  const analyze::Activity& activity = report.activity;
  const std::string threads = base::format_plural(activity.threads, "thread", "threads");
  if (trace.spans.size() == 0 && !trace.operations.empty()) {
    return fmt::format("  A summary of {}, without a timeline.\n",
                       base::format_plural(trace.operations.size(), "operation", "operations"));
  }
  if (!activity.gpu_window_ns && trace.memory.size() > trace.spans.size()) {
    return fmt::format(
        "  A memory snapshot with {}. To see the peak and its owners: fathom memory {}\n",
        base::format_plural(trace.memory.size(), "allocation or free", "allocations and frees"),
        base::shell_word(report.source));
  }
  if (trace.spans.size() == 0) return "  No spans in this file.\n";
  if (!activity.gpu_window_ns) {
    const bool has_gpu_figures = std::ranges::any_of(
        trace.operations, [](const NamedFigures& each) { return each.gpu_ns.has_value(); });
    if (has_gpu_figures) {
      return fmt::format("  {} on {}; GPU time is known per scope only (table below).\n",
                         base::format_plural(trace.spans.size(), "scope", "scopes"), threads);
    }
    return fmt::format("  This trace has no GPU work: {} on {}.\n",
                       base::format_plural(trace.spans.size(), "span", "spans"), threads);
  }
  return wrapped(gpu_story(gpus_of(report.shares, report.by_gpu)), "  ", width);
}

std::string shown_name(const Operation& operation) {
  return operation.name.empty() ? "(no name)" : std::string(operation.name);
}

// What tables have of GPU work where it is known.
struct GpuColumns {
  bool has_class = false;
  const analyze::Efficiency* rates = nullptr;
};

// GPU work has nothing inside it: its self time is its total.
std::vector<std::string> operation_row(const Operation& operation, bool gpu_side,
                                       const GpuColumns& columns, double whole_ns) {
  const base::DurationStats& stats = operation.durations;
  const double share = whole_ns > 0 ? static_cast<double>(operation.self_ns) / whole_ns * 100 : 0;
  std::vector<std::string> row = {shown_name(operation), base::format_count(stats.count()),
                                  base::format_duration(static_cast<double>(stats.sum_ns()))};
  if (columns.has_class) {
    row.insert(row.begin() + 1, operation.kernel_class
                                    ? std::string(analyze::name_of(*operation.kernel_class))
                                    : "–");
  }
  if (!gpu_side) row.push_back(base::format_duration(static_cast<double>(operation.self_ns)));
  row.push_back(base::format_duration(stats.mean_ns()));
  if (columns.rates == nullptr) row.push_back(base::format_duration(stats.quantile_ns(0.5)));
  row.push_back(base::format_duration(stats.quantile_ns(0.99)));
  row.push_back(base::format_percent(share));
  if (columns.rates != nullptr) {
    const analyze::NameFigures* known = columns.rates->of(operation.name);
    const analyze::WorkRate* rate = known != nullptr && known->rate ? &*known->rate : nullptr;
    row.push_back(achieved_text(rate));
    row.push_back(of_peak_text(rate));
  }
  return row;
}

std::string duration_or_blank(const std::optional<double>& ns) {
  return ns ? base::format_duration(*ns) : std::string("–");
}

// What the recorder itself counted, exact for the whole run whatever the file still holds of it.
// The four parts of the time have columns where any of them was measured.
std::string recorded_table(const trace::Trace& trace, std::size_t top, std::size_t width) {
  std::vector<NamedFigures> operations = trace.operations;
  std::stable_sort(operations.begin(), operations.end(),
                   [](const NamedFigures& a, const NamedFigures& b) {
                     return analyze::weight_of(a) > analyze::weight_of(b);
                   });
  const bool has_parts = std::any_of(operations.begin(), operations.end(), [](const auto& o) {
    return o.gpu_ns || o.transfer_ns || o.overhead_ns;
  });
  std::vector<std::string> header = {"scope", "calls", "total", "self", "mean", "p50", "p99"};
  if (has_parts) header.insert(header.end(), {"gpu", "transfer", "overhead", "cpu"});
  base::Table table(header);
  const std::size_t shown = std::min(top, operations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NamedFigures& operation = operations[i];
    std::vector<std::string> row = {operation.operation, base::format_count(operation.calls)};
    for (const auto& ns : {operation.total_ns, operation.self_ns, operation.mean_ns(),
                           operation.p50_ns, operation.p99_ns}) {
      row.push_back(duration_or_blank(ns));
    }
    if (has_parts) {
      for (const auto& ns :
           {operation.gpu_ns, operation.transfer_ns, operation.overhead_ns, operation.cpu_ns}) {
        row.push_back(duration_or_blank(ns));
      }
    }
    table.row(std::move(row));
  }
  return "\n" + table.text(width) + more_rows(operations.size(), shown);
}

// The `top` operations of one side (GPU or host), by self time. Empty where that side has none.
std::string operation_table(const RunReport& report, const trace::Trace& trace, bool gpu_side,
                            std::size_t top, std::size_t width) {
  std::vector<const Operation*> side;
  double whole_ns = 0;
  for (const Operation& operation : report.operations) {
    if (operation.is_frame || trace::is_gpu_work(operation.kind) != gpu_side) continue;
    if (operation.kind == SpanKind::scope && !trace.operations.empty()) continue;  // have a table
    side.push_back(&operation);
    whole_ns += static_cast<double>(operation.self_ns);
  }
  if (side.empty()) return {};
  GpuColumns columns;
  columns.has_class = gpu_side && tell_anything(report.classes);
  if (!report.efficiency.work.empty()) columns.rates = &report.efficiency;
  std::vector<std::string> header = {gpu_side ? "on the GPU" : "on the host", "calls", "total"};
  if (columns.has_class) header.insert(header.begin() + 1, "class");
  if (!gpu_side) header.emplace_back("self");
  header.emplace_back("mean");
  if (columns.rates == nullptr) header.emplace_back("p50");  // there is room for either
  header.insert(header.end(), {"p99", "share"});
  if (columns.rates != nullptr) header.insert(header.end(), {"achieved", "of peak"});
  base::Table table(header);
  const std::size_t shown = std::min(top, side.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.row(operation_row(*side[i], gpu_side, columns, whole_ns));
  }
  return "\n" + table.text(width) + more_rows(side.size(), shown);
}

std::string bottleneck_list(const RunReport& report, std::size_t top, std::size_t width) {
  if (report.bottlenecks.empty()) return {};
  base::Table table({"bottleneck", "self", "share", "cumulative", "spent on"});
  const std::size_t shown = std::min(top, report.bottlenecks.size());
  for (const analyze::RankedOperation& bottleneck : std::span(report.bottlenecks).first(shown)) {
    const Operation& operation = report.operations[bottleneck.operation];
    table.row({shown_name(operation), base::format_duration(static_cast<double>(operation.self_ns)),
               base::format_percent(bottleneck.share_pct),
               base::format_percent(bottleneck.cumulative_pct),
               std::string(analyze::name_of(bottleneck.part))});
  }
  return "\n" + table.text(width) + more_rows(report.bottlenecks.size(), shown);
}

}  // namespace

std::string to_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width, KernelRows kernels) {
  if (analyze::is_fathom_run(trace)) return session_text(report, trace, top, width, kernels);
  std::string text = "\n" + headline(report, trace) + "\n" + story(report, trace, width);
  if (kernels == KernelRows::by_class) {
    text += class_table(report.classes, top, width);
  } else {
    text += class_line(report.classes, width) + operation_table(report, trace, true, top, width);
  }
  text += efficiency_lines(report.efficiency, width);
  if (!trace.operations.empty()) text += recorded_table(trace, top, width);
  text += operation_table(report, trace, false, top, width);
  text += bottleneck_list(report, top, width);
  text += what_to_change(report.suggestions, report.source, top, width);
  return text + "\n";
}

}  // namespace fathom::report
