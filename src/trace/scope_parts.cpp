#include "trace/scope_parts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/partition.h"

namespace fathom::trace {
namespace {

using base::Interval;

struct Work {
  std::vector<Interval> kernels;
  std::vector<Interval> copies;
};

Interval time_of(const Spans& spans, SpanId id) {
  return {spans.start_ns[id], spans.end_ns(id)};
}

// The scopes of a run by the number that work refers to them by. A process that replaced itself
// (exec) has numbered two lives from 1, one after the other.
class NumberedScopes {
 public:
  explicit NumberedScopes(const Trace& trace) : trace_(trace) {
    for (const SpanScope& item : trace.scopes) {
      if (trace.spans.kind[item.span] == SpanKind::scope)
        by_number_[key(item)].push_back(item.span);
    }
  }

  // That launched the call or work, or kNoSpan.
  SpanId find(const SpanScope& item) const {
    const auto known = by_number_.find(key(item));
    if (known == by_number_.end()) return kNoSpan;
    SpanId latest = kNoSpan;
    for (const SpanId scope : known->second) {
      const bool began_before = trace_.spans.start_ns[scope] <= trace_.spans.start_ns[item.span];
      const bool is_later =
          latest == kNoSpan || trace_.spans.start_ns[scope] > trace_.spans.start_ns[latest];
      if (began_before && is_later) latest = scope;
    }
    return latest;
  }

 private:
  using Key = std::pair<std::int64_t, std::uint64_t>;
  Key key(const SpanScope& item) const {
    return {trace_.tracks[trace_.spans.track[item.span]].pid, item.scope};
  }

  const Trace& trace_;
  std::map<Key, std::vector<SpanId>> by_number_;
};

// The calls that launch, by correlation. Numbers may be used again: the latest call before the work
// is its own.
class LaunchingCalls {
 public:
  explicit LaunchingCalls(const Trace& trace) : trace_(trace) {
    const Spans& spans = trace.spans;
    for (SpanId id = 0; id < spans.size(); ++id) {
      if (spans.correlation[id] == kNoCorrelation || !is_gpu_call(spans.kind[id])) continue;
      if (trace.tracks[spans.track[id]].kind == TrackKind::thread) {
        by_number_[spans.correlation[id]].push_back(id);
      }
    }
  }

  SpanId find(SpanId work) const {
    const auto known = by_number_.find(trace_.spans.correlation[work]);
    if (known == by_number_.end()) return kNoSpan;
    const std::vector<std::int64_t>& starts = trace_.spans.start_ns;
    SpanId latest = kNoSpan;
    for (const SpanId call : known->second) {
      const bool is_later = latest == kNoSpan || starts[call] > starts[latest];
      if (starts[call] <= starts[work] && is_later) latest = call;
    }
    return latest;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::int64_t, std::vector<SpanId>> by_number_;
};

void normalize_all(std::unordered_map<SpanId, Work>& work) {
  for (auto& [span, its] : work) {
    its.kernels = base::normalize(std::move(its.kernels));
    its.copies = base::normalize(std::move(its.copies));
  }
}

std::unordered_map<SpanId, Work> work_by_launch(const Trace& trace,
                                                const std::vector<bool>& chosen) {
  const LaunchingCalls calls(trace);
  const Spans& spans = trace.spans;
  std::unordered_map<SpanId, Work> work;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!is_gpu_work(spans.kind[id])) continue;
    const bool is_copy = spans.kind[id] == SpanKind::copy;
    const auto add_to = [&](SpanId span) {
      Work& its = work[span];
      (is_copy ? its.copies : its.kernels).push_back(time_of(spans, id));
    };
    if (chosen[id]) add_to(id);
    if (spans.correlation[id] == kNoCorrelation) continue;
    for (SpanId span = calls.find(id); span != kNoSpan; span = spans.parent[span]) {
      if (chosen[span]) add_to(span);
    }
  }
  normalize_all(work);
  return work;
}

std::unordered_map<SpanId, Work> work_by_scope(const Trace& trace) {
  const NumberedScopes scopes(trace);
  const Spans& spans = trace.spans;
  std::unordered_map<SpanId, Work> work;
  for (const SpanScope& item : trace.scopes) {
    if (!is_gpu_work(spans.kind[item.span])) continue;
    const bool is_copy = spans.kind[item.span] == SpanKind::copy;
    for (SpanId scope = scopes.find(item); scope != kNoSpan; scope = spans.parent[scope]) {
      if (spans.kind[scope] != SpanKind::scope) continue;
      Work& of_scope = work[scope];
      (is_copy ? of_scope.copies : of_scope.kernels).push_back(time_of(spans, item.span));
    }
  }
  normalize_all(work);
  return work;
}

// Of the spans that `is_wanted` wants.
template <typename Wanted>
std::vector<ScopeParts> parts_of(const Trace& trace, const std::unordered_map<SpanId, Work>& work,
                                 const Wanted& is_wanted) {
  const Spans& spans = trace.spans;
  const Work none;
  std::vector<ScopeParts> found;
  for (const Track& track : trace.tracks) {
    const SpanId end = track.first_span + track.span_count;
    std::vector<Interval> calls;
    for (SpanId id = track.first_span; id < end; ++id) {
      if (is_gpu_call(spans.kind[id])) calls.push_back(time_of(spans, id));
    }
    const base::IntervalSet in_calls = base::normalize(std::move(calls));
    for (SpanId id = track.first_span; id < end; ++id) {
      if (!is_wanted(id)) continue;
      const auto known = work.find(id);
      const Work& its = known == work.end() ? none : known->second;
      found.push_back(
          {id, base::partition_time(time_of(spans, id), its.kernels, its.copies, in_calls)});
    }
  }
  return found;
}

}  // namespace

std::vector<ScopeParts> scope_parts(const Trace& trace) {
  return parts_of(trace, work_by_scope(trace),
                  [&](SpanId id) { return trace.spans.kind[id] == SpanKind::scope; });
}

std::vector<ScopeParts> launched_parts(const Trace& trace, const std::vector<bool>& chosen) {
  const std::unordered_map<SpanId, Work> work = work_by_launch(trace, chosen);
  if (work.empty()) return {};
  return parts_of(trace, work, [&](SpanId id) { return chosen[id]; });
}

bool has_gpu_activity(const Trace& trace) {
  const bool has_spans =
      std::any_of(trace.spans.kind.begin(), trace.spans.kind.end(),
                  [](SpanKind kind) { return is_gpu_work(kind) || is_gpu_call(kind); });
  return has_spans || std::any_of(trace.memory.begin(), trace.memory.end(), [](const auto& event) {
           return event.device == MemoryDevice::gpu;
         });
}

}  // namespace fathom::trace
