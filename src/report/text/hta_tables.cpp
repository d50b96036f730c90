#include "report/text/hta_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/format.h"
#include "base/table.h"
#include "report/critical_path_report.h"
#include "report/efficiency_report.h"
#include "report/text/more_rows.h"

namespace fathom::report {
namespace {

using analyze::percent_of;
using analyze::RankFindings;
using base::format_count;
using base::format_percent;

std::string share(std::int64_t part, std::int64_t whole) {
  return format_percent(percent_of(part, whole));
}

std::string titled(const base::Table& table, std::size_t width) {
  return table.empty() ? std::string() : "\n" + table.text(width);
}

std::string stream_text(const std::optional<std::int64_t>& stream) {
  return stream ? fmt::format("stream {}", *stream) : std::string("one stream");
}

std::string rate(const std::optional<double>& gb_s) {
  return gb_s ? base::format_decimal(*gb_s, *gb_s < 10 ? 2 : 1) + " GB/s" : std::string("–");
}

std::string types_table(const RankFindings& rank, std::size_t width) {
  const bool any_overlap =
      std::any_of(rank.kernel_types.begin(), rank.kernel_types.end(),
                  [](const auto& type) { return type.type.find(' ') != std::string::npos; });
  if (!any_overlap) return {};
  base::Table table({"running at the same time", "time", "of the time with work"});
  for (const analyze::KernelTypeTime& type : rank.kernel_types) {
    table.row({type.type, base::format_duration(type.sum_ns), format_percent(type.pct)});
  }
  return titled(table, width);
}

// Streams that do most first.
std::string idle_table(const RankFindings& rank, std::size_t top, std::size_t width) {
  base::Table table({"idle between work on", "idle", "host wait", "kernel wait", "other"});
  const std::size_t shown = std::min(top, rank.idle_streams.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::IdleCauses& causes = rank.idle_streams[i].causes;
    const std::int64_t whole = causes.total_ns();
    table.row({stream_text(rank.idle_streams[i].stream), base::format_duration(whole),
               share(causes.host_wait_ns, whole), share(causes.kernel_wait_ns, whole),
               share(causes.other_ns, whole)});
  }
  return titled(table, width) + more_rows(rank.idle_streams.size(), shown);
}

std::string launches_table(const RankFindings& rank, std::size_t top, std::size_t width) {
  base::Table table({"launched by", "calls", "host time", "mean", "delay p50", "delay p99",
                     "launch longer than work"});
  const auto row = [&](const std::string& name, const analyze::LaunchStats& stats) {
    table.row({name, format_count(stats.count()), base::format_duration(stats.cpu.sum_ns()),
               base::format_duration(stats.cpu.mean_ns()),
               base::format_duration(stats.delay.quantile_ns(0.5)),
               base::format_duration(stats.delay.quantile_ns(0.99)),
               share(static_cast<std::int64_t>(stats.short_work),
                     static_cast<std::int64_t>(stats.count()))});
  };
  const std::vector<analyze::LaunchStats>& calls = rank.launches.by_call;
  const std::size_t shown = std::min(top, calls.size());
  for (std::size_t i = 0; i < shown; ++i) row(calls[i].name, calls[i]);
  if (calls.size() > 1) row("all", rank.launches.all);
  std::string text = titled(table, width) + more_rows(calls.size(), shown);
  if (rank.unlinked_work > 0) {
    text += fmt::format(
        "  {} no launch in the trace.\n",
        base::format_plural(rank.unlinked_work, "kernel or copy has", "kernels or copies have"));
  }
  if (rank.blocked_launches > 0) {
    text += fmt::format(
        "  {} the launch queue full and took {} to return: the host was ahead of the GPU, so this "
        "is not the cost of launching.\n",
        base::format_plural(rank.blocked_launches, "call found", "calls found"),
        base::format_duration(rank.blocked_launch_ns));
  }
  return text;
}

std::string queue_table(const RankFindings& rank, std::size_t top, std::size_t width) {
  base::Table table({"queue length on", "launched", "mean", "p50", "p95", "max", "empty"});
  const std::size_t shown = std::min(top, rank.queues.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::QueueLength& queue = rank.queues[i];
    table.row({stream_text(queue.stream), format_count(queue.launched),
               fmt::format("{:.1f}", queue.mean), format_count(queue.p50), format_count(queue.p95),
               format_count(queue.max), share(queue.empty_ns, queue.window_ns)});
  }
  return titled(table, width) + more_rows(rank.queues.size(), shown);
}

std::string bandwidth_table(const RankFindings& rank, std::size_t top, std::size_t width) {
  base::Table table({"copies", "count", "bytes", "time", "rate", "median", "max"});
  const std::size_t shown = std::min(top, rank.bandwidths.size());
  for (const analyze::Bandwidth& copy : std::span(rank.bandwidths).first(shown)) {
    table.row({copy.name, format_count(copy.count),
               base::format_bytes(static_cast<double>(copy.bytes)),
               base::format_duration(copy.busy_ns), rate(copy.mean_gb_s), rate(copy.median_gb_s),
               rate(copy.max_gb_s)});
  }
  return titled(table, width) + more_rows(rank.bandwidths.size(), shown);
}

std::string annotations_table(const RankFindings& rank, std::size_t top, std::size_t width) {
  base::Table table({"annotation", "calls", "on the host", "kernels", "on the GPU"});
  const std::size_t shown = std::min(top, rank.annotations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::Annotation& one = rank.annotations[i];
    table.row({one.name, format_count(std::max(one.calls, one.gpu_ranges)),
               base::format_duration(one.host_ns), format_count(one.kernels),
               base::format_duration(one.gpu_ns)});
  }
  return titled(table, width) + more_rows(rank.annotations.size(), shown);
}

}  // namespace

std::string ranks_table(const HtaReport& report, std::size_t top, std::size_t width) {
  base::Table table({"rank", "GPU", "total", "compute", "communication", "copies", "idle",
                     "host wait", "overlapped"});
  const std::size_t shown = std::min(top, report.ranks.size());
  for (const RankFindings& rank : std::span(report.ranks).first(shown)) {
    const std::string gpu = rank.device ? std::to_string(*rank.device) : "–";
    const std::optional<analyze::Temporal> of_run = analyze::temporal_of_run(rank);
    if (!of_run) {
      table.row({rank_text(report, rank), gpu, "–", "–", "–", "–", "–", "–", "–"});
      continue;
    }
    const analyze::Temporal& time = *of_run;
    table.row({rank.rank ? std::to_string(*rank.rank) : rank_text(report, rank), gpu,
               base::format_duration(time.total_ns), share(time.compute_ns, time.total_ns),
               share(time.communication_ns, time.total_ns), share(time.memory_ns, time.total_ns),
               share(time.idle_ns, time.total_ns),
               share(rank.in_run->gpus.front().host_late_ns(), time.total_ns),
               rank.comm_comp_overlap_pct ? format_percent(*rank.comm_comp_overlap_pct) : "–"});
  }
  return titled(table, width) + more_rows(report.ranks.size(), shown);
}

std::string kernels_table(const analyze::HtaSummary& summary, std::size_t top, std::size_t width) {
  const bool has_class = tell_anything(summary.classes);
  const bool has_rates = !summary.efficiency.work.empty();  // there is room for these or the median
  std::vector<std::string> header = {"kernel", "calls", "total", "mean"};
  if (has_class) header.insert(header.begin() + 1, "class");
  if (!has_rates) header.emplace_back("p50");
  header.insert(header.end(), {"p99", "share"});
  if (has_rates) header.insert(header.end(), {"achieved", "of peak"});
  base::Table table(header);
  const std::size_t shown = std::min(top, summary.kernels.size());
  for (const analyze::KernelStats& kernel : std::span(summary.kernels).first(shown)) {
    const base::DurationStats& stats = kernel.durations;
    std::vector<std::string> row = {
        kernel.name.empty() ? "(no name)" : kernel.name, format_count(stats.count()),
        base::format_duration(stats.sum_ns()), base::format_duration(stats.mean_ns())};
    if (has_class) row.insert(row.begin() + 1, std::string(name_of(kernel.kernel_class)));
    if (!has_rates) row.push_back(base::format_duration(stats.quantile_ns(0.5)));
    row.push_back(base::format_duration(stats.quantile_ns(0.99)));
    row.push_back(share(stats.sum_ns(), summary.kernel_time_ns));
    if (has_rates) {
      const analyze::WorkRate* rate = kernel.figures.rate ? &*kernel.figures.rate : nullptr;
      row.push_back(achieved_text(rate));
      row.push_back(of_peak_text(rate));
    }
    table.row(std::move(row));
  }
  return titled(table, width) + more_rows(summary.kernels.size(), shown);
}

std::string rank_tables(const RankFindings& rank, std::size_t top, std::size_t width) {
  const std::string path =
      rank.critical_path ? to_text(*rank.critical_path, top, width, rank.leaves_out_last_step) : "";
  return types_table(rank, width) + idle_table(rank, top, width) +
         launches_table(rank, top, width) + queue_table(rank, top, width) +
         bandwidth_table(rank, top, width) + annotations_table(rank, top, width) + path;
}

}  // namespace fathom::report
