#include "analyze/run/activity.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/interval_set.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;

// Streams of one GPU; sources that name no device tell GPUs apart by process.
std::pair<std::int64_t, std::string> gpu_of(const trace::Track& track) {
  return {track.device.value_or(track.pid), track.pid_text};
}

}  // namespace

Activity activity(const trace::Trace& trace) {
  Activity found;
  std::map<std::pair<std::int64_t, std::string>, std::vector<base::Interval>> work;
  bool first = true;
  for (const trace::Track& track : trace.tracks) {
    if (track.span_count == 0) continue;
    ++(track.kind == trace::TrackKind::gpu_stream ? found.gpu_streams : found.threads);
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      const base::Interval span{trace.spans.start_ns[id], trace.spans.end_ns(id)};
      found.begin_ns = first ? span.begin : std::min(found.begin_ns, span.begin);
      found.end_ns = first ? span.end : std::max(found.end_ns, span.end);
      first = false;
      if (trace::is_gpu_work(trace.spans.kind[id])) work[gpu_of(track)].push_back(span);
    }
  }
  if (work.empty()) return found;

  base::Interval window{INT64_MAX, INT64_MIN};
  std::int64_t busy = 0;
  for (auto& [gpu, spans] : work) {
    found.gpus.push_back(gpu.first);
    for (const base::Interval& span : spans) {
      window.begin = std::min(window.begin, span.begin);
      window.end = std::max(window.end, span.end);
    }
    busy += base::total_length(base::normalize(std::move(spans)));
  }
  found.gpu_window_ns = window.length();
  found.gpu_busy_ns = busy / static_cast<std::int64_t>(work.size());
  return found;
}

}  // namespace fathom::analyze
