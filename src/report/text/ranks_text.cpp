#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/table.h"
#include "report/ranks_report.h"
#include "report/text/more_rows.h"

namespace fathom::report {
namespace {

using analyze::RankReport;
using analyze::RankRow;
using base::format_count;
using base::format_duration;

std::string rank_name(const RankReport& report, std::uint32_t index) {
  const RankRow& row = report.rows[index];
  if (row.rank) return fmt::format("rank {}", *row.rank);
  const auto has_same_device = [&](const RankRow& other) { return other.device == row.device; };
  const bool is_by_file = std::ranges::count_if(report.rows, has_same_device) > 1;
  if (row.device && !is_by_file) return fmt::format("GPU {}", *row.device);
  return fmt::format("file {}", index + 1);
}

std::string clock_text(const analyze::RankClock& clock) {
  if (!clock.offset_ns) return "–";
  const char* const sign = *clock.offset_ns < 0 ? "−" : "";
  return sign + base::format_duration(std::abs(*clock.offset_ns));
}

// What made a rank late most often, in words; empty where nothing tells.
std::string cause_text(const RankRow& row) {
  const auto& causes = row.causes;
  const auto compute = causes[static_cast<std::size_t>(analyze::LateCause::compute)];
  const auto host = causes[static_cast<std::size_t>(analyze::LateCause::host)];
  if (2 * std::max(compute, host) <= row.times_last) return {};
  return compute > host ? ", because it computes longer" : ", because its host launches late";
}

std::string ranks_table(const RankReport& report, std::size_t top, std::size_t width) {
  const bool has_steps = std::any_of(report.rows.begin(), report.rows.end(),
                                     [](const RankRow& row) { return row.mean_step_ns; });
  std::vector<std::string> header = {"rank", "compute", "communication", "waited", "last", "late"};
  if (has_steps) header.emplace_back("mean step");
  header.insert(header.end(), {"clock", "±"});
  base::Table table(header);
  const std::size_t shown = std::min(top, report.rows.size());
  for (std::uint32_t i = 0; i < shown; ++i) {
    const RankRow& row = report.rows[i];
    std::vector<std::string> cells = {rank_name(report, i),
                                      base::format_duration(row.compute_ns),
                                      base::format_duration(row.communication_ns),
                                      base::format_duration(row.waited_ns),
                                      format_count(row.times_last),
                                      base::format_duration(row.late_ns)};
    if (has_steps) cells.push_back(row.mean_step_ns ? format_duration(*row.mean_step_ns) : "–");
    cells.push_back(clock_text(row.clock));
    cells.push_back(row.clock.matched > 0 ? base::format_duration(row.clock.residual_ns) : "–");
    table.row(std::move(cells));
  }
  return "\n" + table.text(width) + more_rows(report.rows.size(), shown);
}

std::string operations_table(const RankReport& report, std::size_t top, std::size_t width) {
  if (report.operations.empty()) return {};
  base::Table table({"collective", "count", "spread of arrivals", "worst", "exchange"});
  const std::size_t shown = std::min(top, report.operations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::OperationSkew& one = report.operations[i];
    const auto count = static_cast<double>(one.count);
    table.row(
        {one.group.empty() ? one.operation : fmt::format("{} (group {})", one.operation, one.group),
         format_count(one.count), format_duration(static_cast<double>(one.spread_sum_ns) / count),
         base::format_duration(one.spread_max_ns),
         format_duration(static_cast<double>(one.exchange_sum_ns) / count)});
  }
  return "\n" + table.text(width) + more_rows(report.operations.size(), shown);
}

std::string closing(const RankReport& report) {
  std::string text;
  if (report.compute_imbalance_pct) {
    text += fmt::format("  The slowest rank computes {} longer than the mean.\n",
                        base::format_percent(*report.compute_imbalance_pct));
  }
  if (!report.missing.empty() && report.world_size) {
    const std::size_t here = static_cast<std::size_t>(*report.world_size) - report.missing.size();
    text += fmt::format("  Traces of {} of the {} ranks were given.\n", format_count(here),
                        format_count(static_cast<std::uint64_t>(*report.world_size)));
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string ranks_story(const RankReport& report) {
  if (report.collectives.empty()) {
    return "The ranks share no collective that would align their clocks.";
  }
  if (report.stragglers.empty()) return "No rank is late for the collectives they share.";
  const std::uint32_t worst = report.stragglers.front();
  const RankRow& row = report.rows[worst];
  std::string name = rank_name(report, worst);
  name[0] = name[0] == 'r' ? 'R' : name[0];
  return fmt::format("{} arrives last at {} of {} and costs the others {} in total{}.", name,
                     format_count(row.times_last),
                     base::format_plural(row.shared, "shared collective", "shared collectives"),
                     base::format_duration(row.late_ns), cause_text(row));
}

std::string to_text(const RankReport& report, std::size_t top, std::size_t width) {
  if (report.rows.size() < 2) return {};
  return "\n  " + ranks_story(report) + "\n" + ranks_table(report, top, width) +
         operations_table(report, top, width) + closing(report);
}

}  // namespace fathom::report
