#include "analyze/run/set_up_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/critical_path/runtime_calls.h"
#include "base/median.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kSlowSetUpNs = 1'000'000;
constexpr std::int64_t kTimesUsual = 10;
constexpr std::size_t kEnoughToCompare = 3;

class SetUpFinder {
 public:
  SetUpFinder(const trace::Trace& trace, const Dependencies& on,
              const std::vector<bool>& is_first_launch)
      : trace_(trace),
        on_(on),
        is_first_launch_(is_first_launch),
        waits_(trace.spans.size()),
        roles_(call_roles(trace)) {
    for (const HostWait& wait : on.host_waits) waits_[wait.call] = true;
    for (const WorkRow& row : on.gpu.rows) first_work_ns_ = std::min(first_work_ns_, row.start_ns);
    set_up_roles_.reserve(trace.names.size());
    for (trace::NameId id = 0; id < trace.names.size(); ++id) {  // each distinct name once
      set_up_roles_.push_back(set_up_role(trace.names.view(id)));
    }
  }

  bool sets_up(SpanId id) {
    const SetUpRole about = set_up_roles_[trace_.spans.name[id]];
    if (about == SetUpRole::program) return true;
    if (about == SetUpRole::memory && trace_.spans.start_ns[id] < first_work_ns_) return true;
    return may_be_slow(id) && is_slow(id);
  }

 private:
  bool may_be_slow(SpanId id) const {
    const CallRole role = roles_[trace_.spans.name[id]];
    const bool is_blocked = !on_.queue_waits.empty() && queue_wait_of(on_, id) != nullptr;
    return trace_.spans.duration_ns[id] >= kSlowSetUpNs && role != CallRole::copy &&
           !is_sync(role) && !waits_[id] && !is_blocked;
  }

  // A slow launch of a kernel that ran before was held up by something else, and one without others
  // beside it may be a graph that takes long to launch.
  bool is_slow(SpanId id) {
    const trace::NameId name = trace_.spans.name[id];
    const auto [at, is_new] = usual_.try_emplace(name);  // of names with slow calls, which are few
    if (is_new) at->second = usual_call(trace_, id);
    const bool can_compare = at->second.calls >= kEnoughToCompare;
    const std::int64_t usual_ns = can_compare ? at->second.median_ns : 0;
    if (trace_.spans.duration_ns[id] < kTimesUsual * usual_ns) return false;
    return roles_[name] != CallRole::launch || (usual_ns > 0 && is_first_launch_[id]);
  }

  const trace::Trace& trace_;
  const Dependencies& on_;
  const std::vector<bool>& is_first_launch_;
  std::vector<bool> waits_;  // by span
  std::int64_t first_work_ns_ = INT64_MAX;
  std::vector<CallRole> roles_;          // by name
  std::vector<SetUpRole> set_up_roles_;  // by name
  std::map<trace::NameId, UsualCall> usual_;
};

}  // namespace

UsualCall usual_call(const trace::Trace& trace, SpanId one) {
  const trace::Spans& spans = trace.spans;
  std::vector<std::int64_t> durations;
  UsualCall usual;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.name[id] != spans.name[one] || spans.kind[id] != spans.kind[one]) continue;
    durations.push_back(spans.duration_ns[id]);
    if (usual.first == trace::kNoSpan || spans.start_ns[id] < spans.start_ns[usual.first]) {
      usual.first = id;
    }
  }
  usual.calls = durations.size();
  usual.median_ns = base::median(std::move(durations));
  return usual;
}

std::vector<SpanId> set_up_calls(const trace::Trace& trace, const Dependencies& on,
                                 const std::vector<bool>& takes_part,
                                 const std::vector<bool>& is_first_launch) {
  std::vector<SpanId> found;
  SetUpFinder finder(trace, on, is_first_launch);
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::runtime_call) continue;
    const std::uint32_t thread = on.host.thread_of_track[trace.spans.track[id]];
    if (thread == HostLines::kNoThread || !takes_part[thread]) continue;
    if (finder.sets_up(id)) found.push_back(id);
  }
  return found;
}

}  // namespace fathom::analyze
