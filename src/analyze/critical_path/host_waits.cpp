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

// Clocks of host and GPU are brought together to about this much; old sources round to 1 µs.
constexpr std::int64_t kClockSlackNs = 2'000;

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
  HostWaits(const trace::Trace& trace, const GpuWork& gpu)
      : trace_(trace), gpu_(gpu), records_(sync_records(trace)), launched_(gpu.streams.size()) {
    for (std::size_t i = 0; i < gpu.streams.size(); ++i) launched_[i] = gpu.streams[i].first;
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
  void advance() {
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const std::size_t end = gpu_.streams[i].first + gpu_.streams[i].count;
      while (launched_[i] < end && launched_ns(trace_.spans, gpu_.rows[launched_[i]]) < begin_ns_) {
        ++launched_[i];
      }
    }
  }

  bool has_work(std::size_t stream) const { return launched_[stream] > gpu_.streams[stream].first; }
  const WorkRow& last_of(std::size_t stream) const { return gpu_.rows[launched_[stream] - 1]; }
  bool was_over(const WorkRow& row) const { return row.end_ns <= end_ns_ + kClockSlackNs; }

  void add(SpanId call, std::size_t row, Basis basis) {
    found_.push_back({call, static_cast<std::uint32_t>(row), basis});
  }

  // Streams that were not done when the call returned are of another device. What this thread has
  // waited for before it need not wait for again.
  void wait_for_all(SpanId call) {
    std::vector<std::size_t>& known = waited_[trace_.spans.track[call]];
    known.resize(launched_.size());
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (!has_work(i) || known[i] == launched_[i] || !was_over(last_of(i))) continue;
      known[i] = launched_[i];
      add(call, launched_[i] - 1, Basis::recorded);
    }
  }

  void wait_for_stream(SpanId call) {
    const SyncRecord* record = find_record(records_, trace_.spans.correlation[call]);
    for (std::size_t i = 0; record != nullptr && i < launched_.size(); ++i) {
      if (gpu_.streams[i].track != trace_.spans.track[record->span]) continue;
      if (has_work(i)) add(call, launched_[i] - 1, Basis::recorded);
      return;
    }
    std::size_t best = launched_.size();
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (!has_work(i) || !was_over(last_of(i)) || last_of(i).end_ns <= begin_ns_) continue;
      if (best == launched_.size() || last_of(i).end_ns > last_of(best).end_ns) best = i;
    }
    if (best < launched_.size()) add(call, launched_[best] - 1, Basis::inferred);
  }

  void wait_for_event(SpanId call) {
    const SyncRecord* record = find_record(records_, trace_.spans.correlation[call]);
    if (record != nullptr && record->on_stream && record->event_recorded_ns) {
      for (const GpuStream& stream : gpu_.streams) {
        if (stream.stream != record->on_stream) continue;
        const std::size_t row = launched_before(stream, *record->event_recorded_ns);
        if (row > stream.first) add(call, row - 1, Basis::recorded);
      }
      return;
    }
    std::size_t best = gpu_.rows.size();
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const auto from = gpu_.rows.begin() + static_cast<std::ptrdiff_t>(gpu_.streams[i].first);
      const auto to = gpu_.rows.begin() + static_cast<std::ptrdiff_t>(launched_[i]);
      const auto after =
          std::partition_point(from, to, [&](const WorkRow& row) { return was_over(row); });
      if (after == from || std::prev(after)->end_ns <= begin_ns_) continue;
      const auto row = static_cast<std::size_t>(std::prev(after) - gpu_.rows.begin());
      if (best == gpu_.rows.size() || gpu_.rows[row].end_ns > gpu_.rows[best].end_ns) best = row;
    }
    if (best < gpu_.rows.size()) add(call, best, Basis::inferred);
  }

  std::size_t launched_before(const GpuStream& stream, std::int64_t time_ns) const {
    const auto rows = gpu_.of(stream);
    const auto at = std::partition_point(rows.begin(), rows.end(), [&](const WorkRow& row) {
      return launched_ns(trace_.spans, row) < time_ns;
    });
    return stream.first + static_cast<std::size_t>(at - rows.begin());
  }

  // Memory given back waits for the device, or not; it did where all work was over when it returned
  // and some was not when it was called.
  void wait_if_it_shows(SpanId call) {
    bool waited = false;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      if (!has_work(i)) continue;
      if (!was_over(last_of(i))) return;
      waited = waited || last_of(i).end_ns > begin_ns_;
    }
    if (!waited) return;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      const bool counts = has_work(i) && last_of(i).end_ns > begin_ns_;
      if (counts) add(call, launched_[i] - 1, Basis::inferred);
    }
  }

  // A copy that was over before its own call returned.
  void add_blocking_copies(const std::vector<CallRole>& roles) {
    for (std::size_t i = 0; i < gpu_.rows.size(); ++i) {
      const SpanId call = gpu_.rows[i].launch;
      if (call == kNoSpan || roles[trace_.spans.name[call]] != CallRole::copy) continue;
      if (gpu_.rows[i].end_ns <= trace_.spans.end_ns(call)) add(call, i, Basis::inferred);
    }
  }

  const trace::Trace& trace_;
  const GpuWork& gpu_;
  std::vector<SyncRecord> records_;
  std::vector<std::size_t> launched_;  // of each stream: one past the last row launched so far
  std::unordered_map<trace::TrackId, std::vector<std::size_t>> waited_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::vector<HostWait> found_;
};

}  // namespace

std::vector<HostWait> host_waits(const trace::Trace& trace, const GpuWork& gpu) {
  return HostWaits(trace, gpu).find();
}

}  // namespace fathom::analyze
