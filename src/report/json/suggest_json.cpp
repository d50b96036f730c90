#include <algorithm>

#include "base/json_writer.h"
#include "fathom/figures.h"
#include "report/json/document.h"
#include "report/suggest_report.h"
#include "trace/track_label.h"

namespace fathom::report {
namespace {

using advise::Suggestion;
using base::JsonWriter;

void write_words(JsonWriter& json, const Suggestion& one) {
  json.key("rule").value(one.rule).key("title").value(one.title);
  json.key("operation").value(one.operation).key("type").value(name_of(one.type));
  json.key("priority").value(name_of(one.priority));
  json.key("description").value(one.description);
  json.key("expected_improvement").value(one.expected_improvement);
  json.key("implementation_hint").value(hint_with_code(one));
}

void write_gain(JsonWriter& json, const Suggestion& one) {
  json.key("current_time_ms").value(ms_of(one.current_ns));
  json.key("estimated_time_ms").value(ms_of(one.estimated_ns));
  json.key("potential_speedup").value(one.potential_speedup);
  json.key("basis").value(name_of(one.basis)).key("is_rough").value(one.is_rough);
  json.key("is_after_others").value(one.is_after_others);
  json.key("gain_pct").value(one.gain ? std::optional(one.gain_pct) : std::nullopt);
  json.key("gain");
  if (!one.gain) {
    json.null();
    return;
  }
  json.begin_object().key("low_ms").value(ms_of(one.gain->low_ns));
  json.key("mid_ms").value(ms_of(one.gain->mid_ns));
  json.key("high_ms").value(ms_of(one.gain->high_ns)).end_object();
}

void write_evidence(JsonWriter& json, const Suggestion& one, const trace::Trace& trace) {
  json.key("evidence_count").value(one.evidence_count).key("evidence").begin_array();
  for (const trace::SpanId id : one.evidence) {
    json.begin_object().key("span").value(id).key("name").value(trace.name(id));
    json.key("track").value(label_of(trace.tracks[trace.spans.track[id]]));
    json.key("start_ns").value(trace.spans.start_ns[id]);
    json.key("duration_ns").value(trace.spans.duration_ns[id]).end_object();
  }
  json.end_array();
}

}  // namespace

void write_suggestions(JsonWriter& json, const advise::Suggestions& found,
                       const trace::Trace& trace, std::size_t top) {
  json.begin_array();
  for (std::size_t i = 0; i < std::min(top, found.list.size()); ++i) {
    json.begin_object();
    write_words(json, found.list[i]);
    write_gain(json, found.list[i]);
    write_evidence(json, found.list[i], trace);
    json.end_object();
  }
  json.end_array();
}

std::string to_json(const SuggestReport& report, std::size_t top) {
  const advise::Suggestions& found = report.found;
  std::string out;
  JsonWriter json(out);
  begin_document(json, "suggest").key("source").value(report.source);
  json.key("run_ms").value(ms_of(found.run_ns));
  json.key("measured_ms")
      .value(ms_of(found.measured_ns))
      .key("replayed_ms")
      .value(ms_of(found.replayed_ns));
  json.key("replay_error_pct").value(found.replay_error_pct);
  json.key("has_gains").value(found.has_gains).key("is_rough").value(found.is_rough);
  json.key("why_no_gains");
  if (found.why_no_gains.empty()) {
    json.null();
  } else {
    json.value(found.why_no_gains);
  }
  json.key("left_out").value(found.left_out).key("suggestions");
  write_suggestions(json, found, report.trace, top);
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::report
