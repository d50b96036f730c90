#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "base/table.h"
#include "report/efficiency_report.h"
#include "report/text/more_rows.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

using analyze::WorkRate;

std::string rate_text(double value) {
  return base::format_decimal(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string collectives_table(const analyze::Efficiency& used, std::size_t top, std::size_t width) {
  base::Table table({"collective", "ranks", "bytes", "calls", "time", "mean", "bus bandwidth"});
  const std::size_t shown = std::min(top, used.collectives.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::CollectiveRate& one = used.collectives[i];
    table.row(
        {one.name, base::format_count(static_cast<std::uint64_t>(one.ranks)),
         base::format_bytes(static_cast<double>(one.bytes)), base::format_count(one.count),
         base::format_duration(one.time_ns),
         base::format_duration(static_cast<double>(one.time_ns) / static_cast<double>(one.count)),
         rate_text(one.bus_gb_s()) + " GB/s"});
  }
  if (table.empty()) return {};
  return "\n" + table.text(width) + more_rows(used.collectives.size(), shown);
}

}  // namespace

std::string achieved_text(const WorkRate* rate) {
  if (rate == nullptr) return "–";
  return rate->is_memory_bound() ? rate_text(rate->gb_s()) + " GB/s"
                                 : rate_text(rate->tflops()) + " TFLOP/s";
}

std::string of_peak_text(const WorkRate* rate) {
  if (rate == nullptr || !rate->efficiency_pct()) return "–";
  return base::format_percent(*rate->efficiency_pct()) + (rate->is_memory_bound() ? " bw" : "");
}

std::string efficiency_lines(const analyze::Efficiency& used, std::size_t width) {
  std::string text;
  for (const std::string& sentence : efficiency_sentences(used)) {
    text += wrapped(sentence, "  ", width);
  }
  return text.empty() ? text : "\n" + text;
}

std::string efficiency_table(const analyze::Efficiency& used, std::size_t top, std::size_t width) {
  base::Table table({"operation and shapes", "calls", "GPU time", "TFLOP/s", "GB/s", "of peak"});
  const std::size_t shown = std::min(top, used.work.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::ShapedWork& one = used.work[i];
    table.row({one.op + " [" + one.shapes + "]", base::format_count(one.rate.count),
               base::format_duration(one.rate.time_ns), rate_text(one.rate.tflops()),
               rate_text(one.rate.gb_s()), of_peak_text(&one.rate)});
  }
  std::string text;
  if (!table.empty()) text = "\n" + table.text(width) + more_rows(used.work.size(), shown);
  return text + collectives_table(used, top, width);
}

}  // namespace fathom::report
