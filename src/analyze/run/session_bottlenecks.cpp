#include "analyze/run/session_bottlenecks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/run/idle_gaps.h"
#include "base/interval_set.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

using CallTimes = std::map<std::pair<std::string_view, SpanKind>, std::int64_t>;

// Of calls by name and kind: the time that GPU work covers.
CallTimes covered_by_work(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  std::vector<Interval> work;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (trace::is_gpu_work(spans.kind[id])) work.push_back({spans.start_ns[id], spans.end_ns(id)});
  }
  const base::IntervalSet busy = base::normalize(std::move(work));
  std::map<std::pair<trace::NameId, SpanKind>, std::int64_t> by_id;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (part_of(spans.kind[id]) != Part::overhead) continue;
    const Interval call{spans.start_ns[id], spans.end_ns(id)};
    by_id[{spans.name[id], spans.kind[id]}] += base::length_within(busy, call);
  }
  CallTimes covered;
  for (const auto& [call, ns] : by_id) covered[{trace.names.view(call.first), call.second}] = ns;
  return covered;
}

std::int64_t nothing_recorded_ns(const trace::Trace& trace, Interval life) {
  const trace::Spans& spans = trace.spans;
  std::vector<Interval> known;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!trace::is_gpu_work(spans.kind[id]) && !tells_of_host(spans.kind[id])) continue;
    known.push_back({spans.start_ns[id], spans.end_ns(id)});
  }
  return life.length() - base::length_within(base::normalize(std::move(known)), life);
}

}  // namespace

std::vector<Bottleneck> session_bottlenecks(const trace::Trace& trace, Interval life,
                                            const std::vector<Operation>& operations,
                                            std::size_t top) {
  const CallTimes covered = covered_by_work(trace);
  std::vector<Bottleneck> found;
  double whole = 0;
  for (const Operation& operation : operations) {
    if (operation.is_frame) continue;
    std::int64_t self = operation.self_ns;
    if (const auto call = covered.find({operation.name, operation.kind}); call != covered.end()) {
      self -= std::min(self, call->second);
    }
    if (self <= 0) continue;
    const auto self_ns = static_cast<double>(self);
    whole += self_ns;
    found.push_back({std::string(operation.name), operation.durations.count(), self_ns, 0, 0,
                     std::string(name_of(part_of(operation.kind)))});
  }
  if (const std::int64_t nothing = nothing_recorded_ns(trace, life); nothing > 0 && whole > 0) {
    const auto nothing_ns = static_cast<double>(nothing);
    whole += nothing_ns;
    found.push_back({std::string(kNothingRecorded), 0, nothing_ns, 0, 0, "cpu"});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.self_ns > b.self_ns; });
  if (found.size() > top) found.resize(top);
  double cumulative = 0;
  for (Bottleneck& each : found) {
    each.share = each.self_ns / whole;
    each.cumulative_share = cumulative += each.share;
  }
  return found;
}

}  // namespace fathom::analyze
