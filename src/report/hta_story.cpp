#include "report/hta_story.h"

#include "report/text/hta_tables.h"

namespace fathom::report {

std::vector<GpuOfRun> gpus_of(const HtaReport& report) {
  std::vector<GpuOfRun> gpus;
  for (const analyze::RankFindings& rank : report.ranks) {
    if (!rank.in_run || rank.in_run->gpus.empty()) continue;
    gpus.push_back({&*rank.in_run, &rank.in_run->gpus.front(), rank_text(report, rank)});
  }
  return gpus;
}

std::string hta_story(const HtaReport& report) {
  const std::vector<GpuOfRun> gpus = gpus_of(report);
  return gpus.empty() ? "This trace has no GPU work." : gpu_story(gpus);
}

}  // namespace fathom::report
