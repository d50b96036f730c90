#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  The GPU stands still for over 5 % of the run in gaps that end with work launched only
//          after the gap had begun, not counting what another rule sees a cause for in them; or
//          launch calls take over 50 µs on average.
// Edit     What the host does between launches, and the launches, take 75, 50 and 10 % of the time:
//          a little compiled, compiled, captured as one graph a step. Not edited: loading data,
//          waiting, long operations in long gaps (`idle`). No more is claimed than those gaps took.
namespace fathom::advise {
namespace {

using analyze::CallRole;
using analyze::WorkRow;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr double kTriggerPct = 5;
constexpr std::int64_t kSlowLaunchNs = 50'000;

bool is_dispatch(const Facts& facts, std::size_t piece) {
  const SpanId span = facts.on.host.span[piece];
  if (facts.in_long_operation[piece]) return false;
  if (span == kNoSpan) return true;
  if (facts.loads_data(span) || facts.is_wait(span)) return false;
  const CallRole role = facts.role(span);
  return facts.spans.kind[span] != SpanKind::runtime_call || role == CallRole::launch ||
         role == CallRole::copy;
}

// A gap that ended with work launched in it, and for how long of it the host was on its way there.
struct LateLaunch {
  std::int64_t gap_ns = 0;
  SpanId launch = kNoSpan;
};

// How long of a gap the thread that ended it was on its way to the launch. Where nothing of it is
// recorded, that is not known beyond 100 µs.
std::int64_t dispatch_ns(const Facts& facts, base::Interval gap, SpanId launch) {
  const std::uint32_t thread = facts.thread_of(launch);
  if (thread == analyze::HostLines::kNoThread) return 0;
  const analyze::HostLines& host = facts.on.host;
  const auto [first, last] = pieces_touching(host, thread, gap);
  std::int64_t found = 0;
  for (std::size_t piece = first; piece < last; ++piece) {
    const std::int64_t time =
        std::min(gap.end, host.start_ns[piece + 1]) - std::max(gap.begin, host.start_ns[piece]);
    if (time <= 0 || !is_dispatch(facts, piece)) continue;
    found += host.span[piece] == kNoSpan ? std::min(time, kLongestLagNs) : time;
  }
  return found;
}

// The launch of the work that ended each gap. Streams and gaps are both in order of time.
std::vector<SpanId> launches_after_gaps(const Facts& facts) {
  std::vector<SpanId> launches(facts.gaps.size(), kNoSpan);
  for (const analyze::GpuStream& stream : facts.on.gpu.streams) {
    std::size_t gap = 0;
    for (const WorkRow& row : facts.on.gpu.of(stream)) {
      while (gap < facts.gaps.size() && facts.gaps[gap].end < row.start_ns) ++gap;
      if (gap < facts.gaps.size() && facts.gaps[gap].end == row.start_ns) {
        launches[gap] = row.launch;
      }
    }
  }
  return launches;
}

// Longest first, as far as they are shown.
std::vector<LateLaunch> late_launches(const Facts& facts) {
  const std::vector<SpanId> launches = launches_after_gaps(facts);
  std::vector<LateLaunch> found;
  for (std::size_t i = 0; i < facts.gaps.size(); ++i) {
    const base::Interval gap = facts.gaps[i];
    if (launches[i] == kNoSpan || facts.spans.start_ns[launches[i]] < gap.begin) continue;
    const std::int64_t time = dispatch_ns(facts, gap, launches[i]);
    if (time > 0) found.push_back({time, launches[i]});
  }
  const auto shown = found.begin() + static_cast<std::ptrdiff_t>(std::min(kEvidence, found.size()));
  std::partial_sort(found.begin(), shown, found.end(),
                    [](const LateLaunch& a, const LateLaunch& b) {
                      return std::pair(b.gap_ns, a.launch) < std::pair(a.gap_ns, b.launch);
                    });
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

}  // namespace

Candidates rule_launch(const Facts& facts) {
  const LaunchCalls calls = launch_calls(facts);
  if (facts.on.gpu.rows.empty() || calls.count == 0) return {};
  const std::vector<LateLaunch> late = late_launches(facts);
  std::int64_t total = 0;
  std::vector<SpanId> launches;
  for (const LateLaunch& one : late) {
    total += one.gap_ns;
    launches.push_back(one.launch);
  }
  if (late.empty() || (facts.share(total) < kTriggerPct && calls.mean_ns() <= kSlowLaunchNs)) {
    return {};
  }
  Candidate found;
  found.concerns_ns = total;
  found.words.rule = "launch";
  found.words.type = SuggestionType::parallelization;
  found.words.operation = facts.trace.name(launches.front());
  found.words.title = "Launch less: compile the model or replay it as a graph";
  found.words.description = fmt::format(
      "The GPU stood still {} of the run ({} in {}) because the host was still on its way to "
      "launch its next work. There are {}, {} each, and what the host does between them.",
      base::format_percent(facts.share(total)), base::format_duration(static_cast<double>(total)),
      base::format_plural(late.size(), "gap", "gaps"),
      base::format_plural(calls.count, "launch", "launches"),
      base::format_duration(static_cast<double>(calls.mean_ns())));
  found.supposes = "if the host took half of the time to launch the same work";
  found.words.implementation_hint =
      "Fewer launches, or launches that cost less: a compiled model, a captured graph, fused "
      "optimizers, larger batches.\n"
      "model = torch.compile(model, mode=\"reduce-overhead\")  # captures CUDA graphs\n"
      "optimizer = torch.optim.AdamW(parameters, fused=True)";
  show_in_order(found.words, std::move(launches));
  found.edit = [&facts](Edits& edits, Effort effort) {
    const double factor = pick(effort, 0.75, 0.5, 0.1);
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
