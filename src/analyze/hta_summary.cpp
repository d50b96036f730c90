#include "analyze/hta_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/format.h"

namespace fathom::analyze {
namespace {

constexpr double kWorthNamingPct = 3;
constexpr double kManyShortPct = 30;
constexpr double kMuchLoadingPct = 10;

void add(IdleCauses& all, const IdleCauses& one) {
  all.host_wait_ns += one.host_wait_ns;
  all.kernel_wait_ns += one.kernel_wait_ns;
  all.other_ns += one.other_ns;
  all.host_waits += one.host_waits;
  all.kernel_waits += one.kernel_waits;
  all.others += one.others;
}

std::vector<KernelStats> join_kernels(const std::vector<RankFindings>& ranks) {
  if (ranks.size() == 1) return ranks.front().kernels;
  std::map<std::pair<std::string_view, WorkType>, std::size_t> places;
  std::vector<KernelStats> joined;
  for (const RankFindings& rank : ranks) {
    for (const KernelStats& kernel : rank.kernels) {
      const auto [at, is_new] = places.try_emplace({kernel.name, kernel.type}, joined.size());
      if (is_new) joined.push_back({kernel.name, kernel.type, {}});
      joined[at->second].durations.merge(kernel.durations);
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

// What a bottleneck is called, what it means, and what is mostly done about it.
struct Known {
  const char* what;
  std::int64_t time_ns;
  const char* text;
  const char* advice;
};

void find_bottlenecks(HtaSummary& summary) {
  const Temporal& time = *summary.temporal;
  const std::vector<Known> all = {
      {"host wait", summary.idle.host_wait_ns, "the GPU waited for the host to launch work",
       "Launch less or earlier: replay CUDA graphs or compile (torch.compile), use larger batches, "
       "keep data loading and synchronising calls (.item(), .cpu()) out of the step."},
      {"communication", time.communication_ns, "communication ran with no compute beside it",
       "Hide communication: overlap it with the backward pass, tune bucket sizes, or shard so that "
       "less is exchanged."},
      {"other idle time", summary.idle.other_ns,
       "launched work waited 30 µs or more for nothing that this GPU did",
       "Look in the timeline at what the long gaps wait for: other streams, events, other ranks."},
      {"kernel wait", summary.idle.kernel_wait_ns, "short gaps between kernels add up",
       "Run fewer, longer kernels: fuse them, or replay them as one graph."},
      {"copies", time.memory_ns, "copies and fills ran with no compute beside them",
       "Hide copies: pin host memory and copy with non_blocking=True on a stream of their own, or "
       "keep the data on the GPU."},
  };
  for (const Known& known : all) {
    const double share = percent_of(known.time_ns, time.total_ns);
    if (share < kWorthNamingPct) continue;
    const std::string text = fmt::format("{}: {} ({})", known.text, base::format_percent(share),
                                         base::format_duration(static_cast<double>(known.time_ns)));
    summary.bottlenecks.push_back({known.what, known.time_ns, share, text});
  }
  std::stable_sort(summary.bottlenecks.begin(), summary.bottlenecks.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  for (const HtaBottleneck& bottleneck : summary.bottlenecks) {
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Known& k) { return k.what == bottleneck.what; });
    summary.recommendations.emplace_back(known->advice);
  }
}

void advise_on_launches(const std::vector<RankFindings>& ranks, HtaSummary& summary) {
  std::uint64_t launches = 0;
  std::uint64_t short_ones = 0;
  std::int64_t full_ns = 0;
  for (const RankFindings& rank : ranks) {
    launches += rank.launches.all.count();
    short_ones += rank.launches.all.short_work;
    for (const QueueLength& queue : rank.queues) full_ns += queue.full_ns;
  }
  const double share =
      launches > 0 ? static_cast<double>(short_ones) / static_cast<double>(launches) * 100 : 0;
  const std::int64_t for_launches = summary.idle.host_wait_ns + summary.idle.kernel_wait_ns;
  if (share >= kManyShortPct &&
      percent_of(for_launches, summary.temporal->total_ns) >= kWorthNamingPct) {
    summary.recommendations.push_back(
        fmt::format("{} of the launches took longer than the work they launched: fuse small "
                    "kernels or replay them as a graph.",
                    base::format_percent(share)));
  }
  if (percent_of(full_ns, summary.temporal->total_ns) >= kWorthNamingPct) {
    summary.recommendations.emplace_back(
        "The launch queue was full: the host is far ahead, and GPU work is what to make shorter.");
  }
}

void advise_on_data_loading(const std::vector<RankFindings>& ranks, HtaSummary& summary) {
  std::int64_t loading = 0;
  std::int64_t wall = 0;
  for (const RankFindings& rank : ranks) {
    loading += rank.critical_path.bound_by[static_cast<std::size_t>(Bound::data_loading)];
    wall += rank.critical_path.total_ns();
  }
  const double share = percent_of(loading, wall);
  if (share < kMuchLoadingPct) return;
  summary.recommendations.push_back(
      fmt::format("{} of the wall time waits for data to be loaded: load it in worker processes "
                  "(num_workers) with pinned memory, ahead of the step.",
                  base::format_percent(share)));
}

}  // namespace

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
  }
  summary.comm_comp_overlap_pct = comm_comp_overlap_pct(times);
  summary.kernels = join_kernels(ranks);
  for (const KernelStats& kernel : summary.kernels) {
    summary.kernel_time_ns += kernel.durations.sum_ns();
  }
  if (summary.temporal) {
    find_bottlenecks(summary);
    advise_on_launches(ranks, summary);
    advise_on_data_loading(ranks, summary);
  }
  return summary;
}

}  // namespace fathom::analyze
