#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/critical_path/sync_records.h"
#include "analyze/critical_path/waits.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;

struct Call {
  SpanId span = kNoSpan;
  CallRole role = CallRole::other;
};

std::vector<Call> calls_that_may_wait(const trace::Trace& trace,
                                      const std::vector<CallRole>& roles) {
  std::vector<Call> calls;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const trace::SpanKind kind = trace.spans.kind[id];
    if (kind != trace::SpanKind::runtime_call && kind != trace::SpanKind::sync) continue;
    const CallRole role = roles[trace.spans.name[id]];
    if (is_sync(role) || role == CallRole::free) calls.push_back({id, role});
  }
  std::sort(calls.begin(), calls.end(), [&](const Call& a, const Call& b) {
    return std::pair(trace.spans.start_ns[a.span], a.span) <
           std::pair(trace.spans.start_ns[b.span], b.span);
  });
  return calls;
}

// Goes through the calls in order of time, with what was launched so far on each stream at hand.
class HostWaits {
 public:
  HostWaits(const trace::Trace& trace, const GpuWork& gpu, const LaunchedBy& launched)
      : trace_(trace),
        gpu_(gpu),
        launched_by_(launched),
        records_(sync_records(trace)),
        launched_(gpu.streams.size()),
        awaited_(gpu.streams.size()) {
    for (std::size_t i = 0; i < gpu.streams.size(); ++i) launched_[i] = gpu.streams[i].first;
    find_runs_without_launches();
  }

  std::vector<HostWait> find() {
    const std::vector<CallRole> roles = call_roles(trace_);
    for (const Call& call : calls_that_may_wait(trace_, roles)) {
      begin_ns_ = trace_.spans.start_ns[call.span];
      end_ns_ = trace_.spans.end_ns(call.span);
      advance();
      if (call.role == CallRole::device_sync) wait_for_all(call.span);
      if (call.role == CallRole::stream_sync) wait_for_stream(call.span);
      if (call.role == CallRole::event_sync) wait_for_event(call.span);
      if (call.role == CallRole::free) wait_if_it_shows(call.span);
    }
    add_blocking_copies(roles);
    std::sort(found_.begin(), found_.end(), [](const HostWait& a, const HostWait& b) {
      return std::tie(a.call, a.on) < std::tie(b.call, b.on);
    });
    return std::move(found_);
  }

 private:
  // For each row without a launch: one past the last of the run of such rows that it is part of.
  void find_runs_without_launches() {
    const auto has_none = [](const WorkRow& row) { return row.launch == kNoSpan; };
    if (std::none_of(gpu_.rows.begin(), gpu_.rows.end(), has_none)) return;
    run_end_.resize(gpu_.rows.size());
    for (const GpuStream& stream : gpu_.streams) {
      std::uint32_t end = static_cast<std::uint32_t>(stream.first + stream.count);
      for (std::size_t i = stream.first + stream.count; i-- > stream.first;) {
        if (!has_none(gpu_.rows[i])) end = static_cast<std::uint32_t>(i);
        run_end_[i] = end;
      }
    }
  }

  void advance() {
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const std::size_t end = gpu_.streams[i].first + gpu_.streams[i].count;
      while (launched_[i] < end && launched_by_[launched_[i]] < begin_ns_) ++launched_[i];
      awaited_[i] = with_work_inside(launched_[i], end);
    }
  }

  // What has no launch and ran within the call may have been launched before it as well.
  std::size_t with_work_inside(std::size_t from, std::size_t end) const {
    if (from == end || gpu_.rows[from].launch != kNoSpan) return from;
    return first_not_over(from, run_end_[from], kReturnNs);
  }

  // Of rows in order, the first that was not over when the call returned.
  std::size_t first_not_over(std::size_t from, std::size_t to, std::int64_t slack_ns) const {
    const auto rows = gpu_.rows.begin();
    const auto at = std::partition_point(
        rows + static_cast<std::ptrdiff_t>(from), rows + static_cast<std::ptrdiff_t>(to),
        [&](const WorkRow& row) { return was_over(row, slack_ns); });
    return static_cast<std::size_t>(at - rows);
  }

  bool has_work(std::size_t stream) const { return awaited_[stream] > gpu_.streams[stream].first; }
  const WorkRow& last_of(std::size_t stream) const { return gpu_.rows[awaited_[stream] - 1]; }
  bool was_over(const WorkRow& row, std::int64_t slack_ns) const {
    return row.end_ns <= end_ns_ + slack_ns;
  }

  void add(SpanId call, std::size_t row, Basis basis) {
    found_.push_back({call, static_cast<std::uint32_t>(row), basis});
  }

  // Streams that were not done when the call returned are of another device. What this thread has
  // waited for before it need not wait for again.
  void wait_for_all(SpanId call) {
    std::vector<std::size_t>& known = waited_[trace_.spans.track[call]];
    known.resize(launched_.size());
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (!has_work(i) || known[i] == awaited_[i] || !was_over(last_of(i), kReturnNs)) continue;
      known[i] = awaited_[i];
      add(call, awaited_[i] - 1, Basis::recorded);
    }
  }

  // Of rows that may be the one a call waited for: which one fits when it returned.
  struct Choice {
    std::size_t in_time = SIZE_MAX;  // ended last before the return
    std::size_t late = SIZE_MAX;     // ended first of those that ended soon after it
  };

  void consider(Choice& choice, std::size_t row) const {
    const auto end = [&](std::size_t i) { return gpu_.rows[i].end_ns; };
    if (end(row) <= begin_ns_) return;
    if (was_over(gpu_.rows[row], kClockSlackNs)) {
      if (choice.in_time == SIZE_MAX || end(row) > end(choice.in_time)) choice.in_time = row;
    } else if (was_over(gpu_.rows[row], kReturnNs)) {
      if (choice.late == SIZE_MAX || end(row) < end(choice.late)) choice.late = row;
    }
  }

  void add_chosen(SpanId call, const Choice& choice) {
    const bool is_prompt =
        choice.in_time != SIZE_MAX && gpu_.rows[choice.in_time].end_ns >= end_ns_ - kReturnNs;
    const std::size_t row = is_prompt || choice.late == SIZE_MAX ? choice.in_time : choice.late;
    if (row != SIZE_MAX) add(call, row, Basis::inferred);
  }

  void wait_for_stream(SpanId call) {
    const SyncRecord* record = find_record(records_, trace_.spans.correlation[call]);
    for (std::size_t i = 0; record != nullptr && i < launched_.size(); ++i) {
      if (gpu_.streams[i].track != trace_.spans.track[record->span]) continue;
      if (has_work(i)) add(call, awaited_[i] - 1, Basis::recorded);
      return;
    }
    Choice choice;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (has_work(i)) consider(choice, awaited_[i] - 1);
    }
    add_chosen(call, choice);
  }

  void wait_for_event(SpanId call) {
    const SyncRecord* record = find_record(records_, trace_.spans.correlation[call]);
    if (record != nullptr && record->on_stream && record->event_recorded_ns) {
      for (const GpuStream& stream : gpu_.streams) {
        if (stream.stream != record->on_stream) continue;
        const std::size_t row =
            first_launched_from(stream, launched_by_, *record->event_recorded_ns);
        if (row > stream.first) add(call, row - 1, Basis::recorded);
      }
      return;
    }
    Choice choice;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const std::size_t first = gpu_.streams[i].first;
      const std::size_t after = first_not_over(first, awaited_[i], kClockSlackNs);
      if (after > first) consider(choice, after - 1);
      if (after < awaited_[i]) consider(choice, after);
    }
    add_chosen(call, choice);
  }

  // Memory given back waits for the device, or not; it did where all work was over when it returned
  // and some was not when it was called.
  void wait_if_it_shows(SpanId call) {
    bool waited = false;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (!has_work(i)) continue;
      if (!was_over(last_of(i), kClockSlackNs)) return;
      waited = waited || last_of(i).end_ns > begin_ns_;
    }
    if (!waited) return;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const bool counts = has_work(i) && last_of(i).end_ns > begin_ns_;
      if (counts) add(call, awaited_[i] - 1, Basis::inferred);
    }
  }

  // A copy that was over before its own call returned, or most of it: its recorded end may be late.
  void add_blocking_copies(const std::vector<CallRole>& roles) {
    for (std::size_t i = 0; i < gpu_.rows.size(); ++i) {
      const SpanId call = gpu_.rows[i].launch;
      if (call == kNoSpan || roles[trace_.spans.name[call]] != CallRole::copy) continue;
      const std::int64_t beyond = gpu_.rows[i].end_ns - trace_.spans.end_ns(call);
      const bool is_late = beyond <= kReturnNs && 2 * beyond <= gpu_.rows[i].duration_ns();
      if (beyond <= 0 || is_late) add(call, i, Basis::inferred);
    }
  }

  const trace::Trace& trace_;
  const GpuWork& gpu_;
  const LaunchedBy& launched_by_;
  std::vector<SyncRecord> records_;
  std::vector<std::uint32_t> run_end_;  // empty where every row has a launch
  std::vector<std::size_t> launched_;   // of each stream: one past the last row launched so far
  std::vector<std::size_t> awaited_;    // and past those that this call may have waited for
  std::unordered_map<trace::TrackId, std::vector<std::size_t>> waited_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::vector<HostWait> found_;
};

}  // namespace

std::vector<HostWait> host_waits(const trace::Trace& trace, const GpuWork& gpu,
                                 const LaunchedBy& launched) {
  return HostWaits(trace, gpu, launched).find();
}

}  // namespace fathom::analyze
