#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "base/format.h"
#include "base/table.h"
#include "report/critical_path_report.h"
#include "report/text/more_rows.h"

namespace fathom::report {
namespace {

using analyze::Bound;
using analyze::BoundTimes;
using analyze::CriticalPath;

std::string words(Bound bound) {
  std::string text(analyze::name_of(bound));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Most time first, what has none left out.
std::vector<Bound> ranked(const BoundTimes& times) {
  std::vector<Bound> order;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0) order.push_back(static_cast<Bound>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](Bound a, Bound b) {
    return times[static_cast<std::size_t>(a)] > times[static_cast<std::size_t>(b)];
  });
  return order;
}

std::string bounds_table(const CriticalPath& path, const std::vector<Bound>& order,
                         std::size_t width, bool leaves_out_a_step) {
  // What else is shown beside it does not cover the step that is left out.
  const std::string title = leaves_out_a_step ? "the critical path (all steps) is bound by"
                                              : "the critical path is bound by";
  base::Table table({title, "time", "share"});
  for (const Bound bound : order) {
    const std::int64_t ns = path.bound_by[static_cast<std::size_t>(bound)];
    table.row({words(bound), base::format_duration(static_cast<double>(ns)),
               base::format_percent(analyze::percent_of(ns, path.total_ns()))});
  }
  return "\n" + table.text(width);
}

std::string operations_table(const CriticalPath& path, std::size_t top, std::size_t width) {
  base::Table table({"longest on the critical path", "bound by", "times", "time", "share"});
  const std::size_t shown = std::min(top, path.operations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::PathOperation& operation = path.operations[i];
    table.row({operation.name.empty() ? "(nothing recorded)" : operation.name,
               words(operation.bound), base::format_count(operation.segments),
               base::format_duration(static_cast<double>(operation.path_ns)),
               base::format_percent(analyze::percent_of(operation.path_ns, path.total_ns()))});
  }
  return "\n" + table.text(width) + more_rows(path.operations.size(), shown);
}

// A column for each of the four that bound the run most; steps add up to 100 % with the rest.
std::string steps_table(const CriticalPath& path, std::vector<Bound> order, std::size_t top,
                        std::size_t width) {
  if (path.steps.size() < 2) return {};
  order.resize(std::min<std::size_t>(order.size(), 4));
  std::vector<std::string> header = {"step", "time"};
  for (const Bound bound : order) header.push_back(words(bound));
  base::Table table(header);
  const std::size_t shown = std::min(top, path.steps.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::PathStep& step = path.steps[i];
    const std::int64_t duration = step.end_ns - step.start_ns;
    std::vector<std::string> row = {step.name,
                                    base::format_duration(static_cast<double>(duration))};
    for (const Bound bound : order) {
      row.push_back(base::format_percent(
          analyze::percent_of(step.bound_by[static_cast<std::size_t>(bound)], duration)));
    }
    table.row(std::move(row));
  }
  return "\n" + table.text(width) + more_rows(path.steps.size(), shown);
}

}  // namespace

std::string to_text(const CriticalPath& path, std::size_t top, std::size_t width,
                    bool leaves_out_a_step) {
  if (path.total_ns() <= 0) return {};
  const std::vector<Bound> order = ranked(path.bound_by);
  return bounds_table(path, order, width, leaves_out_a_step) + operations_table(path, top, width) +
         steps_table(path, order, top, width);
}

}  // namespace fathom::report
