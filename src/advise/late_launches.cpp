#include "advise/late_launches.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyze/operations/named_spans.h"
#include "analyze/run/gpu_shares.h"
#include "base/contains.h"
#include "base/median.h"

namespace fathom::advise {
namespace {

using analyze::CallRole;
using analyze::WorkRow;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr std::size_t kSorted = 20;

// A call that takes 1 ms and more loads code, or copies what is not pinned; only to launch a graph
// may take so long by itself.
bool is_long_call(const Facts& facts, SpanId call) {
  return facts.call_ns(call) >= analyze::kLongGapNs &&
         !base::contains(facts.trace.name(call), "GraphLaunch");
}

// How long of a gap the thread that ended it was on its way to the launch. Where nothing of it is
// recorded, that is not known beyond 100 µs. `near` is a piece near the gap before.
std::int64_t dispatch_ns(const Facts& facts, base::Interval gap, SpanId launch, std::size_t& near) {
  const std::uint32_t thread = facts.thread_of(launch);
  if (thread == analyze::HostLines::kNoThread) return 0;
  const analyze::HostLines& host = facts.on.host;
  const auto [first, last] = pieces_touching(host, thread, gap, near);
  near = last;
  std::int64_t found = 0;
  for (std::size_t piece = first; piece < last; ++piece) {
    const std::int64_t time =
        std::min(gap.end, host.start_ns[piece + 1]) - std::max(gap.begin, host.start_ns[piece]);
    if (time <= 0 || !is_dispatch(facts, piece)) continue;
    found += host.span[piece] == kNoSpan ? std::min(time, kLongestLagNs) : time;
  }
  return found;
}

// The same without time in which the GPU ran what was not recorded.
std::int64_t recorded_dispatch_ns(const Facts& facts, base::Interval gap, SpanId launch,
                                  std::size_t& near) {
  if (base::touching(facts.unrecorded, gap).empty()) return dispatch_ns(facts, gap, launch, near);
  std::int64_t time = 0;
  for (const base::Interval& part : base::subtract(std::span(&gap, 1), facts.unrecorded)) {
    time += dispatch_ns(facts, part, launch, near);
  }
  return time;
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

std::int64_t median_of(std::vector<std::int64_t> values) {
  return values.empty() ? 0 : base::median(std::move(values));
}

// The first launch of a kernel that takes over 10 times as long as is usual loads its code, or sets
// up the library that it is in.
void leave_out_first_launches(const Facts& facts, std::vector<LateLaunch>& late) {
  constexpr std::int64_t kTimesUsualGap = 10;
  std::vector<std::int64_t> times;
  for (const LateLaunch& one : late) times.push_back(one.gap_ns);
  const std::int64_t usual = median_of(std::move(times));
  std::erase_if(late, [&](const LateLaunch& one) {
    return !one.is_start && one.gap_ns >= kTimesUsualGap * usual &&
           facts.is_first_launch(one.launch);
  });
}

// What Inductor made. A CompiledFunction alone may run operation by operation (AOTAutograd without
// a compiler).
bool is_compiled_code(std::string_view name) {
  return base::contains(name, "CompiledFxGraph");
}

std::vector<bool> compiled_names(const trace::Trace& trace) {
  std::vector<bool> found(trace.names.size());
  for (trace::NameId id = 0; id < found.size(); ++id) {
    found[id] = is_compiled_code(trace.names.view(id));
  }
  return found;
}

bool is_inside_any(const Facts& facts, SpanId call, const std::vector<bool>& names) {
  return names[facts.spans.name[call]] ||
         analyze::innermost_around(facts.spans, call, names) != kNoSpan;
}

// A kernel of one name whose grids differ worked on tensors of different sizes.
bool grids_vary(const std::map<trace::NameId, std::set<trace::NameId>>& grids) {
  std::size_t varying = 0;
  for (const auto& [name, shapes] : grids) varying += shapes.size() > 1 ? 1 : 0;
  return varying * 2 > grids.size();
}

}  // namespace

bool is_dispatch(const Facts& facts, std::size_t piece) {
  const SpanId span = facts.on.host.span[piece];
  if (facts.in_long_operation[piece]) return false;
  if (span == kNoSpan) return true;
  if (facts.sets_up(span) || facts.loads_data(span) || facts.is_wait(span)) return false;
  if (facts.fills_with_zeros(span) || facts.is_blocked(span)) return false;
  const bool is_call = facts.spans.kind[span] == SpanKind::runtime_call;
  if (is_call && is_long_call(facts, span)) return false;
  const CallRole role = facts.role(span);
  return !is_call || role == CallRole::launch || role == CallRole::copy;
}

LateLaunches late_launches(const Facts& facts) {
  const std::vector<SpanId> launches = launches_after_gaps(facts);
  LateLaunches found;
  std::size_t near = 0;
  for (std::size_t i = 0; i < facts.gaps.size(); ++i) {
    const base::Interval gap = facts.gaps[i];
    if (launches[i] == kNoSpan || facts.spans.start_ns[launches[i]] < gap.begin) continue;
    if (is_long_call(facts, launches[i])) continue;
    const std::int64_t time = recorded_dispatch_ns(facts, gap, launches[i], near);
    const bool is_start = gap.end <= facts.busy.front().begin;
    if (time > 0) found.all.push_back({time, launches[i], is_start});
  }
  leave_out_first_launches(facts, found.all);
  for (const LateLaunch& one : found.all) found.total_ns += one.gap_ns;
  const std::size_t sorted = std::min(kSorted, found.all.size());
  std::partial_sort(found.all.begin(), found.all.begin() + static_cast<std::ptrdiff_t>(sorted),
                    found.all.end(), [](const LateLaunch& a, const LateLaunch& b) {
                      return std::pair(b.gap_ns, a.launch) < std::pair(a.gap_ns, b.launch);
                    });
  return found;
}

LaunchPace launch_pace(const Facts& facts) {
  LaunchPace pace;
  const std::vector<bool> compiled = compiled_names(facts.trace);
  std::vector<SpanId> calls;
  std::vector<std::int64_t> kernels;
  std::map<trace::NameId, std::set<trace::NameId>> grids;  // of kernels made by Inductor
  for (const WorkRow& row : facts.on.gpu.rows) {
    if (row.type != analyze::WorkType::memory) kernels.push_back(row.duration_ns());
    const bool is_triton = facts.trace.names.view(row.name).starts_with("triton_");
    if (is_triton) grids[row.name].insert(facts.spans.shape[row.span]);
    if (row.launch == kNoSpan) continue;
    calls.push_back(row.launch);
    ++pace.work;
    if (base::contains(facts.trace.name(row.launch), "GraphLaunch")) ++pace.of_graphs;
    if (is_triton || is_inside_any(facts, row.launch, compiled)) ++pace.compiled;
  }
  std::sort(calls.begin(), calls.end());  // by thread and time, as their numbers are
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  std::vector<std::int64_t> apart;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (base::contains(facts.trace.name(calls[i]), "GraphLaunch")) ++pace.graphs;
    if (i == 0 || facts.spans.track[calls[i]] != facts.spans.track[calls[i - 1]]) continue;
    apart.push_back(facts.spans.start_ns[calls[i]] - facts.spans.start_ns[calls[i - 1]]);
  }
  pace.launches = calls.size();
  pace.median_apart_ns = median_of(std::move(apart));
  pace.median_kernel_ns = median_of(std::move(kernels));
  pace.shapes_vary = grids_vary(grids);
  return pace;
}

}  // namespace fathom::advise
