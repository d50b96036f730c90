#include "analyze/run/set_up.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/run/set_up_calls.h"
#include "trace/framework_names.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kLeastSetUpNs = 10'000'000;
constexpr std::int64_t kTimesMedian = 10;
constexpr std::size_t kLeastLoads = 3;  // calls of a loader that tell what is usual

bool may_set_up(const trace::Trace& trace, SpanId id) {
  const std::string_view name = trace.name(id);
  if (trace.spans.kind[id] != SpanKind::runtime_call) {
    return name.starts_with(trace::kDataLoader);
  }
  const CallRole role = call_role(name);
  if (role == CallRole::launch) return true;
  return role != CallRole::copy && set_up_role(name) != SetUpRole::none;
}

class SetUpCalls {
 public:
  SetUpCalls(const trace::Trace& trace, std::int64_t first_work_ns)
      : trace_(trace), first_work_ns_(first_work_ns) {}

  bool contains(SpanId id) {
    if (trace_.spans.duration_ns[id] < kLeastSetUpNs || !may_set_up(trace_, id)) return false;
    const auto [at, is_new] = usual_.try_emplace(trace_.spans.name[id]);
    if (is_new) at->second = usual_call(trace_, id);
    const UsualCall& usual = at->second;
    const std::int64_t takes_ns = trace_.spans.duration_ns[id];
    if (trace_.spans.kind[id] == SpanKind::runtime_call) {
      return takes_ns >= kTimesMedian * usual.median_ns || id == usual.first ||
             trace_.spans.end_ns(id) <= first_work_ns_;
    }
    return takes_ns >= kTimesUsualLoad * usual.median_ns && id == usual.first &&
           usual.calls >= kLeastLoads;
  }

 private:
  const trace::Trace& trace_;
  std::int64_t first_work_ns_;
  std::map<trace::NameId, UsualCall> usual_;
};

// The outermost operator around a call; the call where it is in none.
SpanId outermost_operator(const trace::Spans& spans, SpanId call) {
  SpanId outermost = call;
  for (SpanId id = spans.parent[call]; id != trace::kNoSpan; id = spans.parent[id]) {
    if (spans.kind[id] == SpanKind::cpu_op) outermost = id;
  }
  return outermost;
}

}  // namespace

SetUp find_set_up(const trace::Trace& trace, const base::IntervalSet& idle,
                  std::int64_t first_work_ns) {
  const trace::Spans& spans = trace.spans;
  const auto time_of = [&](SpanId id) { return Interval{spans.start_ns[id], spans.end_ns(id)}; };
  SetUpCalls calls(trace, first_work_ns);
  std::map<SpanId, std::vector<Interval>> by_operator;
  SetUp found;
  std::int64_t longest = 0;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.duration_ns[id] < kLeastSetUpNs || !calls.contains(id)) continue;
    const std::int64_t counts = base::length_within(idle, time_of(id));
    if (counts < kLeastSetUpNs) continue;  // the GPU works meanwhile
    by_operator[outermost_operator(spans, id)].push_back(time_of(id));
    if (counts <= longest) continue;
    longest = counts;
    found.longest_call = trace.name(id);
  }
  std::vector<Interval> all;
  for (auto& [around, times] : by_operator) {
    const base::IntervalSet in_calls = base::intersect(base::normalize(std::move(times)), idle);
    const bool is_most =
        2 * base::total_length(in_calls) >= base::length_within(idle, time_of(around));
    if (is_most) {  // as far as the stretches go that hold the calls
      for (const Interval& stretch : base::touching(idle, time_of(around))) {
        if (base::touching(in_calls, stretch).empty()) continue;
        all.push_back({std::max(stretch.begin, spans.start_ns[around]),
                       std::min(stretch.end, spans.end_ns(around))});
      }
    } else {
      all.insert(all.end(), in_calls.begin(), in_calls.end());
    }
  }
  found.time = base::intersect(base::normalize(std::move(all)), idle);
  return found;
}

}  // namespace fathom::analyze
