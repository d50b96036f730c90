#include "report/hta_story.h"

#include <algorithm>

#include "report/text/hta_tables.h"

namespace fathom::report {

std::vector<GpuOfRun> gpus_of(const HtaReport& report) {
  std::vector<GpuOfRun> gpus;
  for (const analyze::RankFindings& rank : report.ranks) {
    if (!rank.in_run || rank.in_run->gpus.empty()) continue;
    gpus.push_back({&*rank.in_run, &rank.in_run->gpus.front(), &rank.efficiency});
  }
  return gpus;
}

std::string hta_story(const HtaReport& report) {
  const std::vector<GpuOfRun> gpus = gpus_of(report);
  if (gpus.empty()) return "This trace has no GPU work.";
  return gpu_story(gpus, [&](const GpuOfRun& one) {
    const auto is_it = [&](const analyze::RankFindings& rank) {
      return rank.in_run && &*rank.in_run == one.run;
    };
    return rank_text(report, *std::ranges::find_if(report.ranks, is_it));
  });
}

}  // namespace fathom::report
