#include "base/json_writer.h"
#include "report/json/document.h"
#include "report/timeline_report.h"
#include "trace/track_label.h"

namespace fathom::report {

std::string to_json(const analyze::TimelineStats& stats, const trace::Trace& trace) {
  std::string out;
  base::JsonWriter json(out);
  begin_document(json, "timeline").key("total_time_ns").value(stats.total_ns());
  json.key("cpu_active_time_ns").value(stats.cpu_active_ns);
  json.key("gpu_active_time_ns").value(stats.gpu_active_ns);
  json.key("overlap_time_ns").value(stats.overlap_ns);
  json.key("begin_ns").value(stats.begin_ns).key("end_ns").value(stats.end_ns);
  json.key("tracks").begin_array();
  for (const analyze::TrackActivity& activity : stats.tracks) {
    const trace::Track& track = trace.tracks[activity.track];
    const bool is_gpu = track.kind == trace::TrackKind::gpu_stream;
    json.begin_object().key("name").value(label_of(track));
    json.key("kind").value(is_gpu ? "gpu_stream" : "thread");
    json.key("device").value(track.device).key("stream").value(track.stream);
    json.key("spans").value(activity.spans).key("busy_ns").value(activity.busy_ns).end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace fathom::report
