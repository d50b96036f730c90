#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/format.h"
#include "base/printable.h"
#include "report/efficiency_report.h"
#include "report/hta_report.h"
#include "report/hta_story.h"
#include "report/ranks_report.h"
#include "report/text/bar.h"
#include "report/text/class_table.h"
#include "report/text/hta_tables.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

using analyze::percent_of;
using analyze::RankFindings;
using base::format_duration;
using base::format_percent;
using base::format_plural;

constexpr std::size_t kShareBarColumns = 40;

std::string bar_line(const char* name, std::int64_t ns, std::int64_t whole,
                     const std::string& note) {
  const double pct = percent_of(ns, whole);
  std::string line =
      fmt::format("  {:<13}  {} {:>7} {:>10}", name, bar(pct / 100, kShareBarColumns),
                  format_percent(pct), format_duration(static_cast<double>(ns)));
  if (!note.empty()) line += "   " + note;
  return line + "\n";
}

std::string bars(const analyze::HtaSummary& summary) {
  const analyze::Temporal& time = *summary.in_run;
  std::string overlapped;
  if (summary.comm_comp_overlap_pct) {
    overlapped = fmt::format("{:.0f} % overlapped", *summary.comm_comp_overlap_pct);
  }
  std::string waited;
  if (time.idle_ns > 0) {
    waited = fmt::format("{:.0f} % host wait", percent_of(summary.host_late_ns, time.idle_ns));
  }
  return "\n" + bar_line("compute", time.compute_ns, time.total_ns, "") +
         bar_line("communication", time.communication_ns, time.total_ns, overlapped) +
         bar_line("copies", time.memory_ns, time.total_ns, "") +
         bar_line("idle", time.idle_ns, time.total_ns, waited);
}

std::string headline(const HtaReport& report) {
  const RankFindings& first = report.ranks.front();
  std::vector<std::string> parts;
  if (report.ranks.size() == 1) {
    parts.push_back(std::filesystem::path(first.source).filename().string());
    if (!first.device_name.empty()) parts.push_back(first.device_name);
    if (first.rank && first.world_size) {
      parts.push_back(fmt::format("rank {} of {}", *first.rank, *first.world_size));
    }
  } else {
    std::size_t ranks = 1;
    for (std::size_t i = 1; i < report.ranks.size(); ++i) {
      if (report.ranks[i].source != report.ranks[i - 1].source) ++ranks;
    }
    parts.push_back(format_plural(ranks, "rank", "ranks"));
    if (ranks < report.ranks.size()) parts.push_back(fmt::format("{} GPUs", report.ranks.size()));
    if (!first.device_name.empty()) parts.push_back(first.device_name);
  }
  if (first.steps > 0) parts.push_back(format_plural(first.steps, "step", "steps"));
  if (report.summary.in_run) {
    parts.push_back(format_duration(static_cast<double>(report.summary.in_run->total_ns) /
                                    static_cast<double>(report.ranks.size())));
  }
  return fmt::format("\n  {}\n\n", base::printable(fmt::format("{}", fmt::join(parts, " · "))));
}

// The tables are of HTA's window.
std::string window_note(const HtaReport& report) {
  const RankFindings& first = report.ranks.front();
  if (!first.leaves_out_last_step) return {};
  return fmt::format(
      "\n  The tables below leave out the last of {} steps, as HTA does; --all-steps includes "
      "it.\n",
      first.steps);
}

std::string advice(const HtaReport& report, std::size_t width) {
  std::string text;
  if (!report.summary.bottlenecks.empty()) {
    text += report.ranks.size() == 1 ? "\n  what keeps the GPU from computing\n"
                                     : "\n  what keeps the GPUs from computing\n";
  }
  for (const analyze::HtaBottleneck& bottleneck : report.summary.bottlenecks) {
    text += wrapped(sentence(bottleneck), "  · ", width);
  }
  if (!report.recommendations.empty()) text += "\n  what to try\n";
  for (const Recommendation& one : report.recommendations) {
    text += wrapped(sentence(one), "  · ", width);
  }
  return text;
}

}  // namespace

std::string rank_text(const HtaReport& report, const RankFindings& rank) {
  if (rank.rank) return fmt::format("rank {}", *rank.rank);
  const bool is_by_file = std::ranges::count(report.ranks, rank.device, &RankFindings::device) > 1;
  if (rank.device && !is_by_file) return fmt::format("GPU {}", *rank.device);
  return fmt::format("file {}", &rank - report.ranks.data() + 1);
}

std::string to_text(const HtaReport& report, std::size_t top, std::size_t width,
                    KernelRows kernels) {
  if (report.ranks.empty()) return "\n  Nothing was read.\n\n";
  std::string text = headline(report) + wrapped(hta_story(report), "  ", width);
  if (!report.summary.in_run) return text + "\n";
  text += bars(report.summary);
  if (report.ranks.size() > 1) text += ranks_table(report, top, width);
  text += window_note(report);
  if (kernels == KernelRows::by_class) {
    text += class_table(report.summary.classes, top, width);
  } else {
    text += class_line(report.summary.classes, width) + kernels_table(report.summary, top, width);
  }
  text += efficiency_table(report.summary.efficiency, top, width);
  text += efficiency_lines(report.summary.efficiency, width);
  if (report.comparison) text += to_text(*report.comparison, top, width);
  if (report.ranks.size() == 1) text += rank_tables(report.ranks.front(), top, width);
  return text + advice(report, width) + "\n";
}

}  // namespace fathom::report
