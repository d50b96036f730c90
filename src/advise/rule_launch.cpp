#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  The GPU stands still in gaps shorter than 1 ms for over 5 % of the run, and the work
//          after at least half of that time was launched only after the gap had begun; or launch
//          calls take over 50 µs on average.
// Edit     What the host does between launches, and the launches, take 70, 40 and 10 % of the time:
//          compiled, mostly captured, one graph a step. Not edited: loading data, waiting, and what
//          the host does in gaps of 1 ms and more.
namespace fathom::advise {
namespace {

using analyze::CallRole;
using analyze::WorkRow;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr double kTriggerPct = 5;
constexpr std::int64_t kSlowLaunchNs = 50'000;

struct HostBound {
  std::int64_t gaps_ns = 0;  // that ended with work launched in them
  std::uint64_t gaps = 0;
  std::vector<SpanId> launches;  // that ended them
};

HostBound host_bound(const Facts& facts) {
  HostBound found;
  std::vector<std::pair<std::int64_t, SpanId>> starts;  // of work, and its launch
  for (const WorkRow& row : facts.on.gpu.rows) starts.emplace_back(row.start_ns, row.launch);
  std::sort(starts.begin(), starts.end());
  for (const base::Interval& gap : facts.gaps) {
    if (gap.length() >= kLongGapNs) continue;
    const auto next = std::lower_bound(starts.begin(), starts.end(), std::pair(gap.end, SpanId{0}));
    if (next == starts.end() || next->second == kNoSpan) continue;
    if (facts.spans.start_ns[next->second] < gap.begin) continue;
    found.gaps_ns += gap.length();
    ++found.gaps;
    found.launches.push_back(next->second);
  }
  return found;
}

struct LaunchCalls {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns() const {
    return count == 0 ? 0 : total_ns / static_cast<std::int64_t>(count);
  }
};

// A call that takes over 1 ms loads code, which is the matter of `setup`.
LaunchCalls launch_calls(const Facts& facts) {
  LaunchCalls calls;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.kind[id] != SpanKind::runtime_call) continue;
    const std::int64_t time = facts.spans.duration_ns[id];
    if (facts.role(id) != CallRole::launch || time >= kLongGapNs) continue;
    ++calls.count;
    calls.total_ns += time;
  }
  return calls;
}

bool is_dispatch(const Facts& facts, std::size_t piece) {
  const SpanId span = facts.on.host.span[piece];
  if (facts.in_long_gap[piece]) return false;
  if (span == kNoSpan) return true;
  if (facts.names.loads_data(span) || facts.is_wait(span)) return false;
  const CallRole role = facts.role(span);
  return facts.spans.kind[span] != SpanKind::runtime_call || role == CallRole::launch ||
         role == CallRole::copy;
}

}  // namespace

Candidates rule_launch(const Facts& facts) {
  if (facts.on.gpu.rows.empty()) return {};
  const HostBound bound = host_bound(facts);
  const LaunchCalls calls = launch_calls(facts);
  const bool is_slow = calls.mean_ns() > kSlowLaunchNs;
  if (facts.share(bound.gaps_ns) < kTriggerPct && !is_slow) return {};
  if (calls.count == 0) return {};

  Candidate found;
  found.concerns_ns = bound.gaps_ns;
  found.words.rule = "launch";
  found.words.type = SuggestionType::parallelization;
  found.words.operation = facts.trace.name(bound.launches.empty() ? facts.on.gpu.rows.front().span
                                                                  : bound.launches.front());
  found.words.title = "Launch less: compile the model or replay it as a graph";
  found.words.description = fmt::format(
      "The GPU stood still {} of the run ({} in {} shorter than 1 ms) because the host had not "
      "launched its next work yet. There are {}, {} each, and what the host does between them.",
      base::format_percent(facts.share(bound.gaps_ns)),
      base::format_duration(static_cast<double>(bound.gaps_ns)),
      base::format_plural(bound.gaps, "gap", "gaps"),
      base::format_plural(calls.count, "launch", "launches"),
      base::format_duration(static_cast<double>(calls.mean_ns())));
  found.supposes = "if the host took 40 % of the time to launch the same work";
  found.words.implementation_hint =
      "Fewer launches, or launches that cost less: a compiled model, a captured graph, fused "
      "optimizers, larger batches.\n"
      "model = torch.compile(model, mode=\"reduce-overhead\")  # captures CUDA graphs\n"
      "optimizer = torch.optim.AdamW(parameters, fused=True)";
  show(found.words, facts.trace, bound.launches);
  found.edit = [&facts](Edits& edits, Effort effort) {
    const double factor = pick(effort, 0.7, 0.4, 0.1);
    for (const std::uint32_t thread : facts.plan.threads) {
      const analyze::HostThread& line = facts.on.host.threads[thread];
      for (std::size_t i = line.first; i < line.last; ++i) {
        if (is_dispatch(facts, i)) scale_piece(edits, facts.plan, i, factor);
      }
    }
  };
  return {found};
}

}  // namespace fathom::advise
