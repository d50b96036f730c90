#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "analyze/run/gpu_shares.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  The GPU is idle for over 10 % of the run although the work that ends the gap had been
//          launched before the gap began, more than 10 µs earlier: nothing in the trace held it up.
// Edit     None: what it waited for is not known.
namespace fathom::advise {
namespace {

constexpr double kQueuedTriggerPct = 10;

struct QueuedGap {
  base::Interval time;
  std::uint32_t row = 0;  // that ended it
};

// Gaps that end with work launched before they began. Work of a stream is in order of time, and so
// are the gaps.
std::vector<QueuedGap> queued_gaps(const Facts& facts) {
  std::vector<QueuedGap> found;
  for (const analyze::GpuStream& stream : facts.on.gpu.streams) {
    std::size_t gap = 0;
    for (std::size_t i = stream.first; i < stream.first + stream.count; ++i) {
      const WorkRow& row = facts.on.gpu.rows[i];
      while (gap < facts.gaps.size() && facts.gaps[gap].end < row.start_ns) ++gap;
      if (gap == facts.gaps.size()) break;
      const base::Interval time = facts.gaps[gap];
      const bool is_queued = time.end == row.start_ns && time.length() > analyze::kLatencyNs &&
                             row.launch != kNoSpan && !facts.is_before_or_after_all_work(time) &&
                             facts.spans.end_ns(row.launch) <= time.begin &&
                             base::length_within(facts.unrecorded, time) == 0;
      if (is_queued) found.push_back({time, static_cast<std::uint32_t>(i)});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const QueuedGap& a, const QueuedGap& b) {
    return a.time.length() > b.time.length();
  });
  // Two streams may begin at once.
  const auto same = [](const QueuedGap& a, const QueuedGap& b) {
    return a.time.begin == b.time.begin;
  };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::uint64_t queued_at_end(const Facts& facts, const QueuedGap& gap) {
  for (const analyze::DeviceWork& device : facts.on.gpu.devices) {
    const std::size_t first = facts.on.gpu.streams[device.first_stream].first;
    const std::size_t end = first + device.by_start.size();
    if (gap.row < first || gap.row >= end) continue;
    return analyze::queued_at(facts.trace, facts.on.gpu, device, gap.time.end);
  }
  return 0;
}

// A profiler that shows each node of a graph, for the GPUs that have one; with the command that was
// recorded, where that is known.
std::string node_profiler(const Facts& facts) {
  constexpr std::size_t kLongestCommand = 200;
  const std::string& command = facts.trace.run.command;
  const std::string program = command.empty() ? "PROGRAM" : base::fit(command, kLongestCommand);
  if (facts.platform.runtime == Runtime::cuda) {
    return ", or with nsys.\nnsys profile --cuda-graph-trace=node --trace=cuda,nvtx -o run " +
           program;
  }
  return ".";
}

}  // namespace

Candidates rule_queued(const Facts& facts) {
  const std::vector<QueuedGap> gaps = queued_gaps(facts);
  std::int64_t total = 0;
  for (const QueuedGap& gap : gaps) total += gap.time.length();
  if (gaps.empty() || facts.share(total) < kQueuedTriggerPct) return {};
  const WorkRow& longest = facts.on.gpu.rows[gaps.front().row];
  Candidate found = found_by("queued", SuggestionType::parallelization, total);
  found.words.operation = facts.trace.names.view(longest.name);
  found.words.title = "Find out what the GPU waits for: it is idle with work queued";
  found.words.description = fmt::format(
      "The GPU was idle for {} ({} of the run, in {}) although its next work had been launched "
      "before. The longest gap, {}, ends with {}; {} were in the queue.",
      base::format_duration(static_cast<double>(total)), base::format_percent(facts.share(total)),
      base::format_plural(gaps.size(), "gap", "gaps"),
      base::format_duration(static_cast<double>(gaps.front().time.length())),
      base::fit(found.words.operation, 40),
      base::format_plural(queued_at_end(facts, gaps.front()), "piece of work", "pieces of work"));
  found.supposes = "Unknown: what held the work up is not in this trace.";
  const bool is_graph = base::contains(facts.trace.name(longest.launch), "GraphLaunch");
  found.words.implementation_hint =
      "Launching less or sooner does not help. A stream waits for what was not recorded here: an "
      "event of another process or library, a host function, another rank, or another program on "
      "the same GPU.";
  if (is_graph) {
    found.words.implementation_hint +=
        " This work is part of a graph, and a profiler may not show every node of one: record "
        "once without graphs" +
        node_profiler(facts);
  } else {
    found.words.implementation_hint += " Record all ranks and look at them together: fathom hta.";
  }
  std::vector<std::uint32_t> rows;
  for (const QueuedGap& gap : gaps) rows.push_back(gap.row);
  std::vector<SpanId> spans;
  for (const std::uint32_t row : rows) spans.push_back(facts.on.gpu.rows[row].span);
  show_in_order(found.words, std::move(spans));
  return {found};
}

}  // namespace fathom::advise
