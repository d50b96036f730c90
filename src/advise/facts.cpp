#include "advise/facts.h"

#include <algorithm>

#include "analyze/hta/device_info.h"
#include "analyze/operations/named_spans.h"
#include "analyze/operations/steps.h"
#include "analyze/run/gpu_shares.h"
#include "analyze/run/set_up_calls.h"
#include "base/contains.h"

namespace fathom::advise {
namespace {

using base::Interval;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

base::IntervalSet busy_time(const analyze::GpuWork& gpu) {
  std::vector<Interval> work;
  work.reserve(gpu.rows.size());
  for (const analyze::WorkRow& row : gpu.rows) work.push_back({row.start_ns, row.end_ns});
  return base::normalize(std::move(work));
}

base::IntervalSet gaps_within(base::Interval window, const base::IntervalSet& busy) {
  base::IntervalSet gaps;
  std::int64_t since = window.begin;
  for (const Interval& work : busy) {
    if (work.begin > since) gaps.push_back({since, work.begin});
    since = std::max(since, work.end);
  }
  if (window.end > since && !busy.empty()) gaps.push_back({since, window.end});
  return gaps;
}

// The outermost span around another that is part of the gap, and not of the run as a whole.
SpanId operation_in(const trace::Spans& spans, SpanId span, Interval gap) {
  SpanId found = span;
  for (SpanId at = span; at != kNoSpan; at = spans.parent[at]) {
    if (spans.start_ns[at] < gap.begin || spans.end_ns(at) > gap.end) break;
    found = at;
  }
  return found;
}

// Calls of the runtime and loading data have rules of their own.
bool is_for_other_rules(const Facts& facts, SpanId span) {
  return facts.loads_data(span) || facts.spans.kind[span] == SpanKind::runtime_call;
}

std::vector<GapPiece> pieces_in_long_gaps(const Facts& facts) {
  std::vector<GapPiece> found;
  const analyze::HostLines& host = facts.on.host;
  for (const std::uint32_t thread : facts.plan.threads) {
    for (const Interval& gap : facts.long_gaps) {
      const auto [first, last] = pieces_touching(host, thread, gap);
      for (std::size_t i = first; i < last; ++i) {
        if (host.span[i] == kNoSpan || is_for_other_rules(facts, host.span[i])) continue;
        const SpanId operation = operation_in(facts.spans, host.span[i], gap);
        const std::int64_t inside = std::min(facts.spans.end_ns(operation), gap.end) -
                                    std::max(facts.spans.start_ns[operation], gap.begin);
        if (inside < kLongOperationNs || !facts.names.shows_work(operation)) continue;
        const std::int64_t time =
            std::min(host.start_ns[i + 1], gap.end) - std::max(host.start_ns[i], gap.begin);
        found.push_back({i, operation, time, gap});
      }
    }
  }
  return found;
}

TransferDirection direction_of(std::string_view copy_name) {
  if (base::contains(copy_name, "HtoD") || base::contains(copy_name, "Host-to-Device") ||
      copy_name.starts_with("Write")) {
    return TransferDirection::to_gpu;
  }
  if (base::contains(copy_name, "DtoH") || base::contains(copy_name, "Device-to-Host") ||
      copy_name.starts_with("Read")) {
    return TransferDirection::from_gpu;
  }
  return TransferDirection::other;
}

}  // namespace

Facts::Facts(const trace::Trace& recorded, const ReplayPlan& ready, const analyze::Wall& wall,
             HostTime measured, const analyze::DevicePeaks& given)
    : trace(recorded),
      plan(ready),
      on(*ready.on),
      spans(recorded.spans),
      host_time(std::move(measured)),
      platform(platform_of(recorded)),
      names(recorded),
      roles(analyze::call_roles(recorded)),
      takes_part(on.host.threads.size()),
      busy(busy_time(on.gpu)),
      window(wall.time),
      gaps(gaps_within(window, busy)),
      long_set_up(wall.set_up),
      unrecorded(wall.unknown),
      collectives(analyze::collectives_of(recorded, on.gpu)),
      steps(analyze::step_spans(recorded).size()),
      is_whole_program(wall.basis == analyze::WallBasis::program ||
                       recorded.run.format == "Fathom run"),
      wall_ns(wall.length_ns()) {
  for (const analyze::HostWait& wait : on.host_waits) {
    if (waits.empty() || waits.back() != wait.call) waits.push_back(wait.call);
  }
  marks_.resize(spans.size());
  for (const SpanId call : waits) marks_[call] |= kWaits;
  if (names.any_loads_data()) {
    for (SpanId id = 0; id < spans.size(); ++id) {
      if (names.loads_data(id)) marks_[id] |= kLoads;
    }
    mark_inside(kLoads);
  }
  directions_.resize(trace.names.size());
  for (const analyze::WorkRow& row : on.gpu.rows) {
    const bool is_new =
        row.type == analyze::WorkType::memory && directions_[row.name] == TransferDirection::other;
    if (is_new) directions_[row.name] = direction_of(trace.names.view(row.name));
  }
  for (const std::uint32_t thread : plan.threads) takes_part[thread] = true;
  const analyze::GpuWork& gpu = on.gpu;
  const trace::DeviceInfo* const device =
      gpu.devices.empty() ? nullptr : analyze::device_info(trace, gpu.devices.front().device);
  if (device != nullptr) {
    gpu_name = device->name;
    peaks = analyze::peaks_of(device->name, device->memory_bytes);
  }
  peaks = analyze::with_given(peaks, given);
  find_first_launches();
  find_unrecorded();
  find_set_up();
  find_fills();
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.kind[id] != SpanKind::python) continue;
    const std::uint32_t thread = thread_of(id);
    python_spans += thread != analyze::HostLines::kNoThread && takes_part[thread] ? 1 : 0;
  }
  for (const Interval& gap : gaps) {
    if (gap.length() >= analyze::kLongGapNs) long_gaps.push_back(gap);
  }
  gap_pieces = pieces_in_long_gaps(*this);
  in_long_operation.resize(on.host.span.size());
  for (const GapPiece& one : gap_pieces) in_long_operation[one.piece] = true;
  for (const analyze::WorkRow& row : on.gpu.rows) work_ns += row.duration_ns();
}

void Facts::find_first_launches() {
  std::vector<const analyze::WorkRow*> first(trace.names.size());
  for (const analyze::WorkRow& row : on.gpu.rows) {
    const analyze::WorkRow*& so_far = first[row.name];
    kernel_names += so_far == nullptr ? 1 : 0;
    if (so_far == nullptr || row.start_ns < so_far->start_ns) so_far = &row;
  }
  first_launches_.resize(spans.size());
  for (const analyze::WorkRow* row : first) {
    if (row == nullptr) continue;
    for (SpanId at = row->launch; at != kNoSpan && !first_launches_[at]; at = spans.parent[at]) {
      first_launches_[at] = true;
    }
  }
}

void Facts::find_set_up() {
  set_up = analyze::set_up_calls(trace, on, takes_part, first_launches_);
  for (const SpanId call : set_up) marks_[call] |= kSetsUp;
  for (SpanId id = 0; !long_set_up.empty() && id < spans.size(); ++id) {
    const Interval time = {spans.start_ns[id], spans.end_ns(id)};
    const bool is_apart =
        time.length() > 0 && base::length_within(long_set_up, time) == time.length();
    if (is_apart) marks_[id] |= kSetsUp;
  }
  if (!set_up.empty() || !long_set_up.empty()) mark_inside(kSetsUp);
}

// The first launch whose work waited for what ran before the recording began.
void Facts::find_unrecorded() {
  for (const analyze::GpuStream& stream : on.gpu.streams) {
    const analyze::WorkRow& first = on.gpu.rows[stream.first];
    if (first.launch == kNoSpan || first_unrecorded_launch != kNoSpan) continue;
    const Interval pause = {spans.end_ns(first.launch), first.start_ns};
    if (base::length_within(unrecorded, pause) > 0) first_unrecorded_launch = first.launch;
  }
}

void Facts::find_fills() {
  zero_fills = find_zero_fills(*this);
  if (!fills_with_zeros_for_long()) return;
  for (const SpanId one : zero_fills.around) marks_[one] |= kFills;
  mark_inside(kFills);
}

// What is part of something marked is so, too: what is around a span comes before it.
void Facts::mark_inside(Mark mark) {
  for (SpanId id = 0; id < spans.size(); ++id) {
    const SpanId parent = spans.parent[id];
    if (parent != kNoSpan && has(parent, mark)) marks_[id] |= mark;
  }
}

SpanId Facts::caller_of(SpanId call) const {
  SpanId function = kNoSpan;
  const SpanId operation = analyze::innermost_that(spans, call, [&](SpanId at) {
    const SpanKind kind = spans.kind[at];
    if (kind == SpanKind::python && function == kNoSpan) function = at;
    return kind == SpanKind::cpu_op || kind == SpanKind::scope;
  });
  if (operation != kNoSpan) return operation;
  return function == kNoSpan ? call : function;
}

std::int64_t Facts::bytes_of(SpanId span) const {
  const auto by_span = [](const trace::SpanBytes& a, SpanId b) { return a.span < b; };
  const auto found = std::lower_bound(trace.bytes.begin(), trace.bytes.end(), span, by_span);
  return found != trace.bytes.end() && found->span == span ? found->bytes : 0;
}

}  // namespace fathom::advise
