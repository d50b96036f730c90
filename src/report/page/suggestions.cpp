#include <algorithm>
#include <cmath>

#include "report/page/layout.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

using advise::Suggestion;
using base::JsonWriter;

constexpr std::size_t kEvidenceShown = 6;

std::int64_t whole_ns(double ms) {
  return std::llround(ms * 1e6);
}

void write_gain(JsonWriter& json, const Suggestion& one, double run_ms) {
  const auto share = [&](std::int64_t ns) {
    return run_ms > 0 ? static_cast<double>(ns) / 1e4 / run_ms : 0;
  };
  json.key("gain");
  if (!one.gain) {
    json.null();
    return;
  }
  json.begin_object().key("is_bound").value(one.basis == advise::GainBasis::bound);
  json.key("is_rough").value(one.is_rough);
  json.key("after_ns").value(whole_ns(run_ms) - one.gain->mid_ns);
  json.key("low_ns").value(one.gain->low_ns).key("mid_ns").value(one.gain->mid_ns);
  json.key("high_ns").value(one.gain->high_ns);
  json.key("low_pct").value(share(one.gain->low_ns)).key("mid_pct").value(one.gain_pct);
  json.key("high_pct").value(std::max(one.gain_pct, share(one.gain->high_ns))).end_object();
}

void write_code(JsonWriter& json, const std::vector<std::string>& code) {
  json.key("code").begin_array();
  for (const std::string& line : code) json.value(line);
  json.end_array();
}

}  // namespace

void write_suggestions(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const advise::Suggestions& found = report.suggestions;
  const PageLayout layout = page_layout(trace);
  const std::vector<std::int64_t>& starts = trace.spans.start_ns;
  const std::int64_t begin = starts.empty() ? 0 : *std::min_element(starts.begin(), starts.end());
  json.key("suggestions").begin_object().key("why_no_gains").value(found.why_no_gains);
  json.key("together_pct").value(found.has_gains ? std::optional(found.gain_pct()) : std::nullopt);
  json.key("rough_pct").value(found.is_rough ? found.replay_error_pct : std::nullopt);
  json.key("run_ns").value(found.run_ms > 0 ? std::optional(whole_ns(found.run_ms)) : std::nullopt);
  json.key("left_out").value(found.left_out).key("list").begin_array();
  for (const Suggestion& one : found.list) {
    json.begin_object().key("title").value(one.title).key("operation").value(one.operation);
    json.key("type").value(name_of(one.type)).key("priority").value(name_of(one.priority));
    json.key("description").value(one.description);
    json.key("expected").value(one.expected_improvement).key("hint").value(one.implementation_hint);
    write_code(json, one.code);
    json.key("ranks").value(1).key("of_ranks").value(1);
    write_gain(json, one, found.run_ms);
    json.key("evidence_count").value(one.evidence_count).key("evidence").begin_array();
    for (std::size_t i = 0; i < std::min(kEvidenceShown, one.evidence.size()); ++i) {
      const trace::SpanId id = one.evidence[i];
      json.begin_object().key("name").value(trace.name(id)).key("place").value(layout.place[id]);
      json.key("start_ns").value(starts[id] - begin);
      json.key("duration_ns").value(trace.spans.duration_ns[id]).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void write_suggestions(JsonWriter& json, const HtaReport& hta) {
  json.key("suggestions").begin_object().key("why_no_gains").value("");
  json.key("together_pct")
      .null()
      .key("rough_pct")
      .null()
      .key("run_ns")
      .null()
      .key("left_out")
      .value(0)
      .key("list")
      .begin_array();
  for (const Recommendation& one : hta.recommendations) {
    json.begin_object().key("title").value(one.title).key("operation").value("");
    json.key("type").value(name_of(one.type)).key("priority").value(name_of(one.priority));
    json.key("description").value("").key("expected").value("").key("hint").value(one.hint);
    write_code(json, one.code);
    json.key("ranks").value(one.ranks).key("of_ranks").value(one.of_ranks).key("gain");
    if (one.gain_pct) {
      json.begin_object().key("is_bound").value(one.is_bound);
      json.key("is_rough").value(one.is_rough).key("after_ns").null();
      json.key("low_ns").null();
      json.key("mid_ns").null().key("high_ns").null().key("low_pct").null();
      json.key("mid_pct").value(*one.gain_pct).key("high_pct").null().end_object();
    } else {
      json.null();
    }
    json.key("evidence_count").value(0).key("evidence").begin_array().end_array().end_object();
  }
  json.end_array().end_object();
}

}  // namespace fathom::report
