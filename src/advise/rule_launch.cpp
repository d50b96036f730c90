#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  The GPU is idle for over 5 % of the run in gaps that end with work launched only
//          after the gap had begun, not counting what another rule sees a cause for in them; or
//          launch calls take over 50 µs on average. A launch of 1 ms and more sets something up,
//          which is the matter of `setup`: neither it nor the gap that it ended is counted. Nor is
//          what a launch waited for room in a full launch queue: there the host is ahead.
// Edit     What the host does between launches, and the launches, take 75, 50 and 10 % of the time:
//          a little compiled, compiled, captured as one graph a step. Not edited: loading data,
//          waiting, long operations in long gaps (`idle`). No more is claimed than those gaps took.
namespace fathom::advise {
namespace {

constexpr double kLaunchTriggerPct = 5;
constexpr std::int64_t kSlowLaunchNs = 50'000;

// A call that takes 1 ms and more loads code, or copies what is not pinned.
bool is_long(const Facts& facts, SpanId call) {
  return facts.call_ns(call) >= kLongGapNs;
}

bool is_dispatch(const Facts& facts, std::size_t piece) {
  const SpanId span = facts.on.host.span[piece];
  if (facts.in_long_operation[piece]) return false;
  if (span == kNoSpan) return true;
  if (facts.spans.kind[span] == SpanKind::runtime_call && is_long(facts, span)) return false;
  if (facts.loads_data(span) || facts.is_wait(span) || facts.is_blocked(span)) return false;
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
    if (is_long(facts, launches[i])) continue;
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
  std::uint64_t count = 0;  // without the long ones
  std::int64_t total_ns = 0;
  std::uint64_t long_count = 0;
  std::int64_t long_ns = 0;
  std::int64_t mean_ns() const {
    return count == 0 ? 0 : total_ns / static_cast<std::int64_t>(count);
  }
};

LaunchCalls launch_calls(const Facts& facts) {
  LaunchCalls calls;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.kind[id] != SpanKind::runtime_call) continue;
    if (facts.role(id) != CallRole::launch) continue;
    const std::int64_t time = facts.call_ns(id);
    ++(is_long(facts, id) ? calls.long_count : calls.count);
    (is_long(facts, id) ? calls.long_ns : calls.total_ns) += time;
  }
  return calls;
}

// "78 launches, 12.7 µs each (without 1 of 3.06 s)".
std::string text_of(const LaunchCalls& calls) {
  std::string text =
      fmt::format("{} of {} each", base::format_plural(calls.count, "launch", "launches"),
                  base::format_duration(calls.mean_ns()));
  if (calls.long_count > 0) {
    text +=
        fmt::format(" (without {} of {}{})", base::format_count(calls.long_count),
                    base::format_duration(calls.long_ns), calls.long_count > 1 ? " together" : "");
  }
  return text;
}

std::string title_of(const Platform& platform) {
  if (platform.is_pytorch) return "Launch less: compile the model or replay it as a graph";
  const bool has_graphs = platform.runtime == Runtime::cuda || platform.runtime == Runtime::hip;
  return has_graphs ? "Launch less: fewer, larger kernels, or a captured graph"
                    : "Launch less: fewer, larger kernels";
}

std::string launch_hint(const Platform& platform) {
  const std::string hint = hint_for(
      platform,
      {.words = "Fewer or cheaper launches: larger batches, several operations in "
                "one kernel",
       .pytorch = ", a compiled model or a captured graph.\n"
                  "model = torch.compile(model, mode=\"reduce-overhead\")  # captures graphs",
       .cuda = ", a captured graph.\n"
               "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // once, around the "
               "launches\n"
               "cudaGraphLaunch(exec, stream);  // then one call for all of them",
       .opencl =
           ", one NDRange over all parts instead of one per part.\n"
           "clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all_items, NULL, 0, NULL, NULL);\n"
           "clFlush(queue);  // the device starts while the host continues"});
  return hint + fused_optimizer_line(platform);
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
  if (late.empty() ||
      (facts.share(total) < kLaunchTriggerPct && calls.mean_ns() <= kSlowLaunchNs)) {
    return {};
  }
  Candidate found = found_by("launch", SuggestionType::parallelization, total);
  found.words.operation = facts.trace.name(launches.front());
  found.words.title = title_of(facts.platform);
  found.words.description = fmt::format(
      "The GPU was idle for {} of the run ({} in {}) because the host had not launched the "
      "next work yet. It made {}, and was busy between them too.",
      base::format_percent(facts.share(total)), base::format_duration(static_cast<double>(total)),
      base::format_plural(late.size(), "gap", "gaps"), text_of(calls));
  found.supposes = "if the host launches the same work in half the time";
  found.words.implementation_hint = launch_hint(facts.platform);
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
