#include "analyze/run/idle_cause.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/operations/steps.h"
#include "analyze/run/idle_gaps.h"
#include "analyze/run/set_up_calls.h"
#include "base/search_near.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;
using trace::TrackId;

constexpr std::int64_t kOtherStreamNs = 100'000;
constexpr std::int64_t kLongAfterWaitNs = 10'000'000;  // a long gap after a wait
constexpr std::int64_t kSlowCallNs = 1'000'000;
constexpr std::int64_t kTimesUsualCall = 10;
constexpr std::int64_t kWaitSlackNs = 10'000;  // waits return before the work's recorded end (ROCm)
constexpr std::int64_t kLooksPerSpan = 16;     // a trace of thousands of GPUs must not take forever
constexpr double kOneOfMany = 0.8;             // a function that is nearly all of what calls it
constexpr double kMostOfIt = 0.4;              // one that is the most of it

Interval clipped(const trace::Spans& spans, SpanId id, Interval time) {
  return {std::max(spans.start_ns[id], time.begin), std::min(spans.end_ns(id), time.end)};
}

bool tells_of_code(SpanKind kind) {
  return tells_of_host(kind) && kind != SpanKind::overhead;
}

}  // namespace

IdleCauseFinder::IdleCauseFinder(const trace::Trace& trace, const GpuWork& work)
    : trace_(trace),
      work_(work),
      roles_(call_roles(trace)),
      calls_(trace.tracks.size()),
      last_call_(trace.tracks.size()),
      waits_(trace.tracks.size()),
      launched_ns_(work.rows.size(), INT64_MAX),
      left_(kLooksPerSpan * static_cast<std::int64_t>(trace.spans.size())) {
  const std::vector<bool> takes_part = threads_of_run(trace, work);
  std::vector<std::uint64_t> launches(trace.tracks.size());
  for (const WorkRow& row : work.rows) {
    if (row.launch != kNoSpan) ++launches[trace.spans.track[row.launch]];
  }
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    if (!takes_part[id]) continue;
    threads_.push_back(id);
    if (launches[id] > launches[main_]) main_ = id;
    const trace::Track& track = trace.tracks[id];
    for (SpanId span = track.first_span; span < track.first_span + track.span_count; ++span) {
      if (!trace::is_gpu_call(trace.spans.kind[span])) continue;
      calls_[id].push_back(span);
      const bool is_wait =
          trace.spans.kind[span] == SpanKind::sync || is_sync(roles_[trace.spans.name[span]]);
      if (is_wait && trace.spans.duration_ns[span] >= kLatencyNs) waits_[id].push_back(span);
    }
  }
  // Work without a launch was launched no later than what follows it on its stream.
  for (const GpuStream& stream : work.streams) {
    std::int64_t next = INT64_MAX;
    for (std::size_t i = stream.first + stream.count; i-- > stream.first;) {
      const SpanId launch = work.rows[i].launch;
      if (launch != kNoSpan) next = trace.spans.start_ns[launch];
      launched_ns_[i] = next;
    }
  }
}

// The threads that launch its work wait for it some of the time. If the rest is less than what the
// GPU needs, launching is not the limit: where it comes late, a wait has let the queue run empty.
void IdleCauseFinder::look_at(const DeviceWork& device, Interval run, std::int64_t busy_ns) {
  std::int64_t waited = 0;  // by the thread that waits longest
  TrackId last = UINT32_MAX;
  for (const std::uint32_t at : device.by_start) {
    const SpanId launch = work_.rows[at].launch;
    if (launch == kNoSpan || trace_.spans.track[launch] == last) continue;
    last = trace_.spans.track[launch];
    waited = std::max(waited, waited_ns(last, run));
  }
  host_keeps_up_ = run.length() - waited < busy_ns;
}

std::int64_t IdleCauseFinder::waited_ns(TrackId track, Interval run) {
  const auto [at, is_new] = waited_.try_emplace(track);
  if (!is_new) return at->second;
  std::vector<Interval> waiting;
  for (const SpanId wait : waits_[track]) {
    waiting.push_back({trace_.spans.start_ns[wait], trace_.spans.end_ns(wait)});
  }
  return at->second = base::length_within(base::normalize(std::move(waiting)), run);
}

SpanId IdleCauseFinder::last_wait(TrackId track, std::int64_t time) const {
  const std::vector<SpanId>& waits = waits_[track];
  const auto after = std::partition_point(
      waits.begin(), waits.end(), [&](SpanId wait) { return trace_.spans.end_ns(wait) <= time; });
  return after == waits.begin() ? kNoSpan : *std::prev(after);
}

CauseOfGap IdleCauseFinder::cause_of(const IdleGapOfGpu& gap) {
  if (gap.after == nullptr) {
    if (threads_.empty()) return {IdleCause::host_code, kNoSpan, main_, gap.time};
    return cause_on_host(gap, main_, gap.time.end);
  }
  const std::int64_t length = gap.time.length();
  const std::int64_t launched = launched_ns_[static_cast<std::size_t>(gap.after - &work_.rows[0])];
  const bool is_late = launched > gap.time.begin;
  if (is_late && gap.after->launch == kNoSpan) {
    return {length < kLatencyNs ? IdleCause::latency : IdleCause::unlinked, kNoSpan, 0, gap.time};
  }
  if (is_late) {
    return cause_on_host(gap, trace_.spans.track[gap.after->launch],
                         std::min(launched, gap.time.end));
  }
  const auto track_of = [&](const WorkRow& row) { return trace_.spans.track[row.span]; };
  const bool is_other = gap.before != nullptr && track_of(*gap.before) != track_of(*gap.after);
  return {length < kLatencyNs                   ? IdleCause::latency
          : is_other && length < kOtherStreamNs ? IdleCause::other_stream
                                                : IdleCause::not_recorded,
          kNoSpan, 0, gap.time};
}

CauseOfGap IdleCauseFinder::cause_on_host(const IdleGapOfGpu& gap, TrackId track,
                                          std::int64_t launched_ns) {
  const trace::Spans& spans = trace_.spans;
  const Interval host = {gap.time.begin, launched_ns};
  if (left_ <= 0) return {IdleCause::launch, kNoSpan, track, host};
  if (host.length() >= kOtherStreamNs) track = busiest_track(track, host);
  const std::vector<SpanId>& calls = calls_[track];
  const auto begins_before = [&](std::int64_t time) {
    return [&spans, time](SpanId call) { return spans.start_ns[call] < time; };
  };
  auto first = base::partition_point_near(
      calls.begin(), calls.end(), calls.begin() + last_call_[track], begins_before(host.begin));
  const auto last = base::partition_point_near(first, calls.end(), first, begins_before(host.end));
  last_call_[track] = first - calls.begin();
  // What was open when the gap began; calls may be in calls, a few deep.
  while (first != calls.begin() && spans.end_ns(*std::prev(first)) > host.begin - kWaitSlackNs) {
    --first;
  }
  SpanId longest = kNoSpan;
  SpanId waited = kNoSpan;
  std::int64_t longest_ns = 0;
  std::int64_t in_calls = 0;
  std::int64_t until = host.begin;
  left_ -= last - first;
  for (; first != last; ++first) {
    const Interval inside = clipped(spans, *first, host);
    in_calls += std::max<std::int64_t>(0, inside.end - std::max(inside.begin, until));
    until = std::max(until, inside.end);
    if (inside.length() > longest_ns) {
      longest_ns = inside.length();
      longest = *first;
    }
    if (waits(*first, gap) && spans.start_ns[*first] <= host.begin &&
        spans.end_ns(*first) <= host.end) {
      waited = *first;
    }
  }
  const bool is_one_call = 2 * longest_ns > host.length();
  if (is_one_call && is_slow(longest) && !waits(longest, gap)) {
    return {IdleCause::set_up, longest, track, host};
  }
  const bool is_code = 2 * in_calls < host.length() && host.length() >= kLongGapNs;
  if (is_code && (waited == kNoSpan || host.length() >= kLongAfterWaitNs)) {
    return {IdleCause::host_code, kNoSpan, track, host};
  }
  if (is_one_call && waits(longest, gap)) waited = longest;
  if (waited != kNoSpan) return {IdleCause::sync, waited, track, host};
  if (is_one_call && roles_[spans.name[longest]] != CallRole::launch &&
      host.length() >= kLatencyNs) {
    return {IdleCause::call, longest, track, host};
  }
  const SpanId before = host_keeps_up_ ? last_wait(track, host.end) : kNoSpan;
  if (before != kNoSpan) return {IdleCause::sync, before, track, host, false};
  return {IdleCause::launch, kNoSpan, track, host};
}

// The thread that launches may have had nothing to do until another handed over to it: then the
// other tells.
TrackId IdleCauseFinder::busiest_track(TrackId launching, Interval time) const {
  if (2 * recorded_ns(launching, time) >= time.length()) return launching;
  TrackId busiest = launching;
  std::int64_t most = recorded_ns(launching, time);
  for (const TrackId track : threads_) {
    if (left_ <= 0) break;
    const std::int64_t ns = recorded_ns(track, time);
    if (ns > most) {
      most = ns;
      busiest = track;
    }
  }
  return busiest;
}

std::vector<SpanId> IdleCauseFinder::spans_in(TrackId id, Interval time) const {
  const trace::Spans& spans = trace_.spans;
  const trace::Track& track = trace_.tracks[id];
  const auto begin = spans.start_ns.begin() + track.first_span;
  const auto end = begin + track.span_count;
  const auto first =
      static_cast<SpanId>(std::lower_bound(begin, end, time.begin) - spans.start_ns.begin());
  const auto last =
      static_cast<SpanId>(std::lower_bound(begin, end, time.end) - spans.start_ns.begin());
  left_ -= static_cast<std::int64_t>(last - first) + 1;
  std::vector<SpanId> found;
  if (first > track.first_span) {  // those that were open when it began are around the one before
    for (SpanId at = first - 1; at != kNoSpan; at = spans.parent[at]) {
      if (spans.end_ns(at) > time.begin) found.push_back(at);
    }
    std::reverse(found.begin(), found.end());
  }
  for (SpanId at = first; at < last; ++at) found.push_back(at);
  std::erase_if(found, [&](SpanId at) { return !tells_of_code(spans.kind[at]); });
  return found;
}

// Spans are in order of their starts, so that what is around one comes before it.
std::int64_t IdleCauseFinder::recorded_ns(TrackId track, Interval time) const {
  std::int64_t known = 0;
  std::int64_t until = time.begin;
  for (const SpanId id : spans_in(track, time)) {
    if (trace_.spans.kind[id] == SpanKind::annotation && trace_.name(id).starts_with(kStepName)) {
      continue;
    }
    const Interval inside = clipped(trace_.spans, id, time);
    known += std::max<std::int64_t>(0, inside.end - std::max(inside.begin, until));
    until = std::max(until, inside.end);
  }
  return known;
}

CodeOfGap IdleCauseFinder::code_of(TrackId track, Interval time) const {
  const trace::Spans& spans = trace_.spans;
  if (left_ <= 0 || 2 * recorded_ns(track, time) < time.length()) return {};
  const std::vector<SpanId> inside = spans_in(track, time);
  std::unordered_map<SpanId, std::vector<SpanId>> children;
  std::vector<SpanId> level;  // the outermost
  for (const SpanId id : inside) {
    SpanId parent = spans.parent[id];
    while (parent != kNoSpan && !tells_of_code(spans.kind[parent])) parent = spans.parent[parent];
    (parent == kNoSpan ? level : children[parent]).push_back(id);
  }
  CodeOfGap code;
  auto level_ns = static_cast<double>(time.length());
  while (!level.empty()) {
    std::map<trace::NameId, std::int64_t> by_name;
    for (const SpanId id : level) {
      by_name[spans.name[id]] += clipped(spans, id, time).length();
    }
    const auto most = std::max_element(by_name.begin(), by_name.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    const auto most_ns = static_cast<double>(most->second);
    const bool is_step = trace_.names.view(most->first).starts_with(kStepName);
    if (!is_step && most_ns < kMostOfIt * level_ns) break;
    if (!is_step) code = {trace_.names.view(most->first), most->second};
    if (!is_step && most_ns < kOneOfMany * level_ns) break;
    level_ns = most_ns;
    std::vector<SpanId> below;
    for (const SpanId id : level) {
      if (spans.name[id] != most->first) continue;
      if (const auto found = children.find(id); found != children.end()) {
        below.insert(below.end(), found->second.begin(), found->second.end());
      }
    }
    level = std::move(below);
  }
  return code;
}

// Of copies, those from or to memory that can be paged, and those that say so by their name, are
// there until their own copy is over.
bool IdleCauseFinder::waits(SpanId call, const IdleGapOfGpu& gap) const {
  if (call == kNoSpan) return false;
  const CallRole role = roles_[trace_.spans.name[call]];
  const std::string_view name = trace_.name(call);
  if (trace_.spans.kind[call] == SpanKind::sync || is_sync(role)) return true;
  if (role != CallRole::copy) return role == CallRole::free;
  if (gap.before == nullptr || gap.before->launch != call || name.starts_with("cl")) return false;
  return name.find("Memset") == std::string_view::npos &&
         (name.find("Async") == std::string_view::npos ||
          trace_.names.view(gap.before->name).find("ageable") != std::string_view::npos);
}

bool IdleCauseFinder::is_slow(SpanId call) {
  if (call == kNoSpan || trace_.spans.duration_ns[call] < kSlowCallNs) return false;
  const auto [at, is_new] = medians_.try_emplace(trace_.spans.name[call]);
  if (is_new) at->second = usual_call(trace_, call).median_ns;
  return trace_.spans.duration_ns[call] >= kTimesUsualCall * at->second;
}

}  // namespace fathom::analyze
