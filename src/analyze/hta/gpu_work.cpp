#include "analyze/hta/gpu_work.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analyze/classes/class_index.h"
#include "base/sort_runs.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;
using trace::TrackId;

// Runtime calls by correlation. Threads number theirs in order, and streams take them in order: so
// sorting is merging, and the next that is asked for is mostly the next there is.
class LaunchIndex {
 public:
  explicit LaunchIndex(const trace::Trace& trace) : spans_(trace.spans) {
    calls_.reserve(static_cast<std::size_t>(
        std::count(spans_.kind.begin(), spans_.kind.end(), SpanKind::runtime_call)));
    for (SpanId id = 0; id < spans_.size(); ++id) {
      if (spans_.correlation[id] == trace::kNoCorrelation || !is_call(trace, id)) continue;
      calls_.push_back({spans_.correlation[id], id});
    }
    base::sort_runs(std::span(calls_),
                    [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
    for (std::size_t i = 0; i < calls_.size();) {  // those of one, by their start
      std::size_t end = i + 1;
      while (end < calls_.size() && calls_[end].correlation == calls_[i].correlation) ++end;
      if (end - i > 1) {
        base::sort_runs(std::span(calls_).subspan(i, end - i),
                        [&](const Call& a, const Call& b) { return begin_of(a) < begin_of(b); });
      }
      i = end;
    }
  }

  SpanId launch_of(std::int64_t correlation, std::int64_t start_ns) {
    if (correlation == trace::kNoCorrelation) return trace::kNoSpan;
    move_to(correlation);
    if (first_ == next_) return trace::kNoSpan;
    const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto last = calls_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto later = std::partition_point(
        first, last, [&](const Call& call) { return begin_of(call) <= start_ns; });
    if (later == first) return first->span;
    // Of several that began at one time, the first.
    const std::int64_t begin = begin_of(*std::prev(later));
    return std::partition_point(first, later,
                                [&](const Call& call) { return begin_of(call) < begin; })
        ->span;
  }

 private:
  struct Call {
    std::int64_t correlation;
    SpanId span;
  };

  // A call that waits for what it launches, such as a blocking write, is a `sync` on its thread.
  static bool is_call(const trace::Trace& trace, SpanId id) {
    const SpanKind kind = trace.spans.kind[id];
    return kind == SpanKind::runtime_call ||
           (kind == SpanKind::sync &&
            trace.tracks[trace.spans.track[id]].kind == trace::TrackKind::thread);
  }

  // Makes [first_, next_) the calls of this correlation. It is mostly that of the last question (a
  // graph) or the one after.
  void move_to(std::int64_t correlation) {
    const auto is_at = [&](std::size_t i) {
      return i < calls_.size() && calls_[i].correlation == correlation;
    };
    if (first_ < next_ && is_at(first_)) return;
    first_ = next_;
    if (!is_at(first_)) {
      const auto found = std::lower_bound(
          calls_.begin(), calls_.end(), correlation,
          [](const Call& a, std::int64_t wanted) { return a.correlation < wanted; });
      first_ = static_cast<std::size_t>(found - calls_.begin());
    }
    next_ = first_;
    while (is_at(next_)) ++next_;
  }

  std::int64_t begin_of(const Call& call) const { return spans_.start_ns[call.span]; }

  const trace::Spans& spans_;
  std::vector<Call> calls_;
  std::size_t first_ = 0;
  std::size_t next_ = 0;
};

// Sources that name no device tell GPUs apart by process.
using DeviceKey = std::pair<std::int64_t, std::string>;

DeviceKey device_key(const trace::Track& track) {
  return {track.device.value_or(track.pid), track.pid_text};
}

std::vector<TrackId> tracks_by_device(const trace::Trace& trace) {
  std::vector<TrackId> order(trace.tracks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](TrackId a, TrackId b) {
    return device_key(trace.tracks[a]) < device_key(trace.tracks[b]);
  });
  return order;
}

void order_by_start(const GpuWork& work, DeviceWork& device) {
  const GpuStream& first = work.streams[device.first_stream];
  const GpuStream& last = work.streams[device.first_stream + device.stream_count - 1];
  device.by_start.resize(last.first + last.count - first.first);
  std::iota(device.by_start.begin(), device.by_start.end(),
            static_cast<std::uint32_t>(first.first));
  if (device.stream_count == 1) return;
  base::sort_runs(std::span(device.by_start), [&](std::uint32_t a, std::uint32_t b) {
    return work.rows[a].start_ns < work.rows[b].start_ns;
  });
}

}  // namespace

GpuWork gpu_work(const trace::Trace& trace, std::optional<std::int64_t> launched_before_ns) {
  const trace::Spans& spans = trace.spans;
  LaunchIndex launches(trace);
  ClassIndex classes(trace);
  GpuWork work;
  std::optional<DeviceKey> last_device;
  for (const TrackId track_id : tracks_by_device(trace)) {
    const trace::Track& track = trace.tracks[track_id];
    const std::size_t first = work.rows.size();
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      if (!trace::is_gpu_work(spans.kind[id])) continue;
      const std::int64_t start = spans.start_ns[id];
      const SpanId launch = launches.launch_of(spans.correlation[id], start);
      const KernelClass found = classes.of(id, launch);
      work.rows.push_back(
          {start, spans.end_ns(id), spans.name[id], id, launch, work_type(found), found});
    }
    if (work.rows.size() == first) continue;
    if (last_device != device_key(track)) {
      last_device = device_key(track);
      work.devices.push_back({track.device, work.streams.size(), 0, {}});
    }
    work.streams.push_back({track.device, track.stream, track_id, first, work.rows.size() - first});
    ++work.devices.back().stream_count;
  }
  for (DeviceWork& device : work.devices) order_by_start(work, device);
  return launched_before_ns ? launched_before(trace, work, *launched_before_ns) : work;
}

GpuWork launched_before(const trace::Trace& trace, const GpuWork& all, std::int64_t time_ns) {
  GpuWork work;
  work.launched_before_ns = time_ns;
  work.rows.reserve(all.rows.size());
  for (const DeviceWork& device : all.devices) {
    DeviceWork kept = {device.device, work.streams.size(), 0, {}};
    for (const GpuStream& stream : all.of(device)) {
      const std::size_t first = work.rows.size();
      for (const WorkRow& row : all.of(stream)) {
        const bool is_linked = row.launch != trace::kNoSpan;
        const std::int64_t at = is_linked ? trace.spans.start_ns[row.launch] : row.start_ns;
        if (at < time_ns) work.rows.push_back(row);
      }
      if (work.rows.size() == first) continue;
      work.streams.push_back(
          {stream.device, stream.stream, stream.track, first, work.rows.size() - first});
      ++kept.stream_count;
    }
    if (kept.stream_count > 0) work.devices.push_back(std::move(kept));
  }
  for (DeviceWork& device : work.devices) order_by_start(work, device);
  return work;
}

}  // namespace fathom::analyze
