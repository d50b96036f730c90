#include "report/hta_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "report/text/hta_tables.h"

namespace fathom::report {

using analyze::percent_of;
using analyze::RankFindings;
using base::format_percent;

std::string idle_sentence(const analyze::HtaSummary& summary) {
  const std::int64_t idle = summary.temporal->idle_ns;
  if (percent_of(idle, summary.temporal->total_ns) < 5) return {};
  const analyze::IdleCauses& causes = summary.idle;
  struct Cause {
    std::int64_t ns;
    const char* text;
  };
  const std::array<Cause, 3> all = {
      {{causes.host_wait_ns, "was spent waiting for the host"},
       {causes.kernel_wait_ns, "is in short gaps between kernels"},
       {causes.other_ns, "is in long gaps before work that was already launched"}}};
  const Cause& first = *std::max_element(
      all.begin(), all.end(), [](const Cause& a, const Cause& b) { return a.ns < b.ns; });
  const double share = percent_of(first.ns, idle);
  const char* const much = share >= 85 ? "Nearly all" : share >= 60 ? "Most" : "The largest part";
  return fmt::format(" {} of the idle time {}.", much, first.text);
}

std::string hta_story(const HtaReport& report) {
  const analyze::HtaSummary& summary = report.summary;
  if (!summary.temporal) return "This trace has no GPU work.";
  const auto busy_pct = [](const analyze::Temporal& time) {
    return 100 - percent_of(time.idle_ns, time.total_ns);
  };
  const double busy = busy_pct(*summary.temporal);
  if (report.ranks.size() == 1) {
    return fmt::format("The GPU was busy {}.{}", format_percent(busy), idle_sentence(summary));
  }
  const RankFindings* least = nullptr;
  const RankFindings* most = nullptr;
  for (const RankFindings& rank : report.ranks) {
    if (!rank.temporal) continue;
    if (least == nullptr || busy_pct(*rank.temporal) < busy_pct(*least->temporal)) least = &rank;
    if (most == nullptr || busy_pct(*rank.temporal) > busy_pct(*most->temporal)) most = &rank;
  }
  return fmt::format("The GPUs were busy {} on average, from {} ({}) to {} ({}).{}",
                     format_percent(busy), format_percent(busy_pct(*least->temporal)),
                     rank_text(report, *least), format_percent(busy_pct(*most->temporal)),
                     rank_text(report, *most), idle_sentence(summary));
}

}  // namespace fathom::report
