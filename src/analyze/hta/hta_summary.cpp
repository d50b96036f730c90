#include "analyze/hta/hta_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/format.h"

namespace fathom::analyze {
namespace {

constexpr double kWorthNamingPct = 3;

void add(IdleCauses& all, const IdleCauses& one) {
  all.host_wait_ns += one.host_wait_ns;
  all.kernel_wait_ns += one.kernel_wait_ns;
  all.other_ns += one.other_ns;
  all.host_waits += one.host_waits;
  all.kernel_waits += one.kernel_waits;
  all.others += one.others;
}

void add_run(HtaSummary& summary, const RankFindings& rank) {
  const std::optional<Temporal> one = temporal_of_run(rank);
  if (!one) return;
  Temporal& all = summary.in_run ? *summary.in_run : summary.in_run.emplace();
  all.total_ns += one->total_ns;
  all.idle_ns += one->idle_ns;
  all.compute_ns += one->compute_ns;
  all.communication_ns += one->communication_ns;
  all.memory_ns += one->memory_ns;
  const GpuShares& gpu = rank.in_run->gpus.front();
  summary.host_late_ns += gpu.host_late_ns();
  summary.latency_ns += gpu.idle_by(IdleCause::latency).ns;
}

std::vector<KernelStats> join_kernels(const std::vector<RankFindings>& ranks) {
  if (ranks.size() == 1) return ranks.front().kernels;
  std::map<std::pair<std::string_view, WorkType>, std::size_t> places;
  std::vector<KernelStats> joined;
  for (const RankFindings& rank : ranks) {
    for (const KernelStats& kernel : rank.kernels) {
      const auto [at, is_new] = places.try_emplace({kernel.name, kernel.type}, joined.size());
      if (is_new) joined.push_back({kernel.name, kernel.type, kernel.kernel_class, {}, {}});
      joined[at->second].durations.merge(kernel.durations);
      joined[at->second].figures.add(kernel.figures);
    }
  }
  std::sort(joined.begin(), joined.end(), [](const KernelStats& a, const KernelStats& b) {
    if (a.durations.sum_ns() != b.durations.sum_ns()) {
      return a.durations.sum_ns() > b.durations.sum_ns();
    }
    return a.name < b.name;
  });
  return joined;
}

struct LossWords {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<LossWords, 5> kLosses = {{
    {"host wait", "the GPU waited for the host to launch work"},
    {"communication", "communication ran without any compute alongside"},
    {"other idle time",
     "work that was already launched waited 10 µs or more while the GPU was idle"},
    {"kernel wait", "short gaps between kernels add up"},
    {"copies", "copies and fills ran without any compute alongside"},
}};

void find_bottlenecks(HtaSummary& summary) {
  const Temporal& time = *summary.in_run;
  const std::int64_t other = time.idle_ns - summary.host_late_ns - summary.latency_ns;
  const std::array<std::pair<Loss, std::int64_t>, kLosses.size()> all = {{
      {Loss::host_wait, summary.host_late_ns},
      {Loss::communication, time.communication_ns},
      {Loss::other_idle, other},
      {Loss::kernel_wait, summary.latency_ns},
      {Loss::copies, time.memory_ns},
  }};
  for (const auto& [loss, time_ns] : all) {
    const double share = percent_of(time_ns, time.total_ns);
    if (share >= kWorthNamingPct) summary.bottlenecks.push_back({loss, time_ns, share});
  }
  std::stable_sort(summary.bottlenecks.begin(), summary.bottlenecks.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
}

}  // namespace

std::string_view name_of(Loss loss) {
  return kLosses[static_cast<std::size_t>(loss)].name;
}

std::string_view meaning_of(Loss loss) {
  return kLosses[static_cast<std::size_t>(loss)].meaning;
}

std::string sentence(const HtaBottleneck& bottleneck) {
  return fmt::format("{}: {} ({})", meaning_of(bottleneck.loss),
                     base::format_percent(bottleneck.share_pct),
                     base::format_duration(bottleneck.time_ns));
}

double percent_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) * 100 : 0;
}

HtaSummary summarize(const std::vector<RankFindings>& ranks) {
  HtaSummary summary;
  BusyTimes times;
  for (const RankFindings& rank : ranks) {
    if (!rank.temporal) continue;
    for (std::size_t i = 0; i < times.ns.size(); ++i) times.ns[i] += rank.times.ns[i];
    times.end_ns += rank.times.total_ns();
    summary.temporal = temporal(times);
    add(summary.idle, rank.idle);
    add_run(summary, rank);
  }
  summary.comm_comp_overlap_pct = comm_comp_overlap_pct(times);
  summary.kernels = join_kernels(ranks);
  std::vector<std::vector<ClassTime>> classes;
  for (const RankFindings& rank : ranks) classes.push_back(rank.classes);
  summary.classes = join_classes(classes);
  std::vector<Efficiency> efficiencies;
  for (const RankFindings& rank : ranks) efficiencies.push_back(rank.efficiency);
  summary.efficiency = join(efficiencies);
  for (const KernelStats& kernel : summary.kernels) {
    summary.kernel_time_ns += kernel.durations.sum_ns();
  }
  if (summary.in_run) find_bottlenecks(summary);
  return summary;
}

}  // namespace fathom::analyze
