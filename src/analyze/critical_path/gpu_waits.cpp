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

// Work that begins this soon after its launch, or after the work before it, waited for nothing
// else; and work that waited for other work begins at most so much later.
constexpr std::int64_t kPromptNs = 3'000;
constexpr std::int64_t kReactionNs = 20'000;
// Work that is ready and does not begin for longer than this waits for room on the GPU.
constexpr std::int64_t kNoRoomNs = 100'000;

class GpuWaits {
 public:
  GpuWaits(const trace::Trace& trace, const GpuWork& gpu, const LaunchedBy& launched)
      : trace_(trace), spans_(trace.spans), gpu_(gpu), launched_(launched) {}

  std::vector<GpuWait> find() {
    for (const SyncRecord& record : sync_records(trace_)) {
      if (!record.is_stream_wait) continue;
      has_records_ = true;
      add_recorded(record);
    }
    infer();
    std::sort(found_.begin(), found_.end(), [](const GpuWait& a, const GpuWait& b) {
      return std::tie(a.work, a.on) < std::tie(b.work, b.on);
    });
    return std::move(found_);
  }

 private:
  // The next work of the stream that waits, after the last work before the event.
  void add_recorded(const SyncRecord& record) {
    if (!record.on_stream || !record.event_recorded_ns) return;
    const trace::TrackId waiter = spans_.track[record.span];
    for (const GpuStream& stream : gpu_.streams) {
      if (stream.track != waiter) continue;
      const std::size_t work = first_launched_from(stream, launched_, spans_.start_ns[record.span]);
      if (work == stream.first + stream.count) return;
      for (const GpuStream& other : gpu_.streams) {
        if (other.stream != record.on_stream || other.device != stream.device) continue;
        const std::size_t on = first_launched_from(other, launched_, *record.event_recorded_ns);
        if (on > other.first) add(work, on - 1, Basis::recorded);
      }
    }
  }

  void add(std::size_t work, std::size_t on, Basis basis) {
    if (gpu_.rows[on].start_ns >= gpu_.rows[work].start_ns) return;
    found_.push_back({static_cast<std::uint32_t>(work), static_cast<std::uint32_t>(on), basis});
  }

  void infer() {
    gather_calls();
    for (const DeviceWork& device : gpu_.devices) {
      const auto streams = gpu_.of(device);
      for (const GpuStream& stream : streams) {
        for (std::size_t i = stream.first; i < stream.first + stream.count; ++i) {
          infer_for(stream, streams, i);
        }
      }
    }
  }

  void gather_calls() {
    const std::vector<CallRole> roles = call_roles(trace_);
    for (SpanId id = 0; id < spans_.size(); ++id) {
      if (spans_.kind[id] != trace::SpanKind::runtime_call) continue;
      if (roles[spans_.name[id]] != CallRole::stream_waits) continue;
      calls_[spans_.track[id]].push_back(spans_.start_ns[id]);
    }
  }

  // Whether the thread of a launch made a stream wait after the launch before.
  bool was_made_to_wait(const WorkRow& row, const WorkRow* before) const {
    const auto calls = calls_.find(spans_.track[row.launch]);
    if (calls == calls_.end()) return false;
    const bool is_known = before != nullptr && before->launch != kNoSpan;
    const std::int64_t since = is_known ? spans_.start_ns[before->launch] : INT64_MIN;
    const auto after =
        std::lower_bound(calls->second.begin(), calls->second.end(), spans_.start_ns[row.launch]);
    return after != calls->second.begin() && *std::prev(after) > since;
  }

  void infer_for(const GpuStream& stream, std::span<const GpuStream> streams, std::size_t work) {
    const WorkRow& row = gpu_.rows[work];
    const WorkRow* before = work == stream.first ? nullptr : &gpu_.rows[work - 1];
    const bool has_launch = row.launch != kNoSpan;
    std::int64_t ready = has_launch ? launch_ready_ns(spans_, row) : row.start_ns - 2 * kNoRoomNs;
    if (before != nullptr) ready = has_launch ? std::max(ready, before->end_ns) : before->end_ns;
    if (row.start_ns - ready <= kPromptNs) return;
    const bool is_late = row.start_ns - ready > kNoRoomNs;
    // Where there is no launch, nothing tells whether the stream was made to wait either.
    const bool may_wait = has_launch ? !has_records_ && was_made_to_wait(row, before) : is_late;
    std::size_t on = work;
    if (may_wait) on = ended_before(stream, streams, work, ready);
    if (on == work && has_launch && is_late) on = made_room(stream, streams, work);
    if (on != work) add(work, on, Basis::inferred);
  }

  // The work of another stream that ended last before this began, after `ready`; itself if none.
  std::size_t ended_before(const GpuStream& stream, std::span<const GpuStream> streams,
                           std::size_t work, std::int64_t ready) const {
    const WorkRow& row = gpu_.rows[work];
    std::size_t best = work;
    for (const GpuStream& other : streams) {
      if (other.first == stream.first) continue;
      const auto rows = gpu_.of(other);
      const auto after = std::partition_point(
          rows.begin(), rows.end(), [&](const WorkRow& r) { return r.end_ns <= row.start_ns; });
      if (after == rows.begin()) continue;
      const auto on = other.first + static_cast<std::size_t>(after - rows.begin()) - 1;
      const WorkRow& candidate = gpu_.rows[on];
      const bool is_known = row.launch != kNoSpan && candidate.launch != kNoSpan;
      const bool fits =
          candidate.end_ns > ready && row.start_ns - candidate.end_ns <= kReactionNs &&
          (!is_known || spans_.start_ns[candidate.launch] < spans_.start_ns[row.launch]);
      if (fits && (best == work || candidate.end_ns > gpu_.rows[best].end_ns)) best = on;
    }
    return best;
  }

  // The work of another stream that was on the GPU when this began and is over first; itself if
  // none.
  std::size_t made_room(const GpuStream& stream, std::span<const GpuStream> streams,
                        std::size_t work) const {
    const std::int64_t start = gpu_.rows[work].start_ns;
    std::size_t best = work;
    for (const GpuStream& other : streams) {
      if (other.first == stream.first) continue;
      const auto rows = gpu_.of(other);
      const auto after = std::partition_point(rows.begin(), rows.end(),
                                              [&](const WorkRow& r) { return r.start_ns < start; });
      if (after == rows.begin()) continue;
      const auto on = other.first + static_cast<std::size_t>(after - rows.begin()) - 1;
      if (gpu_.rows[on].end_ns < start - kReactionNs) continue;
      if (best == work || gpu_.rows[on].end_ns < gpu_.rows[best].end_ns) best = on;
    }
    return best;
  }

  const trace::Trace& trace_;
  const trace::Spans& spans_;
  const GpuWork& gpu_;
  const LaunchedBy& launched_;
  std::unordered_map<trace::TrackId, std::vector<std::int64_t>> calls_;  // by thread, in order
  bool has_records_ = false;
  std::vector<GpuWait> found_;
};

}  // namespace

std::vector<GpuWait> gpu_waits(const trace::Trace& trace, const GpuWork& gpu,
                               const LaunchedBy& launched) {
  return GpuWaits(trace, gpu, launched).find();
}

}  // namespace fathom::analyze
