#include "report/text/class_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "base/table.h"
#include "report/text/more_rows.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

constexpr std::size_t kClassesInALine = 5;
constexpr double kWorthAWordPct = 0.5;

}  // namespace

std::string class_line(const std::vector<analyze::ClassTime>& classes, std::size_t width) {
  if (!tell_anything(classes)) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(kClassesInALine, classes.size()); ++i) {
    if (classes[i].share_pct < kWorthAWordPct) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", label_of(classes[i].kernel_class),
                        base::format_percent(classes[i].share_pct));
  }
  return text.empty() ? text : "\n" + wrapped("GPU time by class: " + text, "  ", width);
}

std::string class_table(const std::vector<analyze::ClassTime>& classes, std::size_t top,
                        std::size_t width) {
  if (!tell_anything(classes)) {
    return classes.empty() ? std::string()
                           : "\n" + wrapped(
                                        "No classes: these kernels are the program's own, and "
                                        "their names do not say what they compute.",
                                        "  ", width);
  }
  base::Table table({"class of GPU work", "calls", "total", "mean", "share"});
  const std::size_t shown = std::min(top, classes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::ClassTime& one = classes[i];
    table.row(
        {std::string(label_of(one.kernel_class)), base::format_count(one.count),
         base::format_duration(one.sum_ns),
         base::format_duration(static_cast<double>(one.sum_ns) / static_cast<double>(one.count)),
         base::format_percent(one.share_pct)});
  }
  return "\n" + table.text(width) + more_rows(classes.size(), shown);
}

}  // namespace fathom::report
