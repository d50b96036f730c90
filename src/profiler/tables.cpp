#include <algorithm>

#include "base/format.h"
#include "base/table.h"
#include "profiler/summary.h"

namespace fathom::detail {
namespace {

std::string duration(const std::optional<double>& ns) {
  return ns ? base::format_duration(*ns) : "–";
}

std::string drops_line(const Drops& drops) {
  std::string line;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    line += line.empty() ? "  " : ", ";
    line += base::format_count(count) + std::string(what);
  };
  add(drops.entries, " entries not kept");
  add(drops.recorded_scopes, " scopes not in the run file");
  add(drops.activities, " GPU activities not kept");
  add(drops.lost_scopes, " scopes not measured for lack of memory");
  return line.empty() ? line : line + "\n";
}

}  // namespace

std::string summary_table(const Summaries& summaries, const Drops& drops, std::size_t width) {
  if (summaries.empty()) return "  Nothing was measured.\n";
  std::vector<const Summaries::value_type*> rows;
  rows.reserve(summaries.size());
  for (const auto& each : summaries) rows.push_back(&each);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return a->second.total_ns > b->second.total_ns;
  });
  base::Table table({"operation", "calls", "total", "self", "mean", "p50", "p95", "p99", "max"});
  for (const auto* row : rows) {
    const OperationFigures& figures = row->second;
    table.row({row->first, base::format_count(figures.calls), duration(figures.total_ns),
               duration(figures.self_ns), duration(figures.mean_ns()), duration(figures.p50_ns),
               duration(figures.p95_ns), duration(figures.p99_ns), duration(figures.max_ns)});
  }
  return table.text(width) + drops_line(drops);
}

std::string bottlenecks_table(const std::vector<Bottleneck>& bottlenecks, std::size_t of,
                              std::size_t width) {
  if (bottlenecks.empty()) return "  Nothing was measured.\n";
  base::Table table({"bottleneck", "calls", "self", "share", "cumulative", "spent on"});
  for (const Bottleneck& each : bottlenecks) {
    table.row({each.operation, base::format_count(each.calls), duration(each.self_ns),
               base::format_percent(100 * each.share),
               base::format_percent(100 * each.cumulative_share),
               each.dominated_by.empty() ? "–" : each.dominated_by});
  }
  std::string text = table.text(width);
  if (of > bottlenecks.size()) {
    text += "  … " + base::format_count(of - bottlenecks.size()) + " more\n";
  }
  return text;
}

}  // namespace fathom::detail
