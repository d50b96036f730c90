#include <algorithm>
#include <cmath>

#include "report/page/evidence.h"
#include "report/page/sections.h"
#include "report/page/timeline.h"

namespace fathom::report {
namespace {

using advise::Suggestion;
using base::JsonWriter;

// Those of spans that come after `first_span` others, on a clock that began `start_ns` before.
void write_evidence(JsonWriter& json, const std::vector<ShownSpan>& spans, std::size_t first_span,
                    std::int64_t start_ns) {
  json.key("evidence").begin_array();
  for (const ShownSpan& span : spans) {
    json.begin_object().key("name").value(span.name).key("place").value(first_span + span.place);
    json.key("start_ns").value(start_ns + span.start_ns);
    json.key("duration_ns").value(span.duration_ns).end_object();
  }
  json.end_array();
}

void write_gain(JsonWriter& json, const Suggestion& one, double run_ns) {
  const auto share = [&](std::int64_t ns) {
    return run_ns > 0 ? static_cast<double>(ns) / run_ns * 100 : 0;
  };
  json.key("gain");
  if (!one.gain) {
    json.null();
    return;
  }
  json.begin_object().key("is_bound").value(one.basis == advise::GainBasis::bound);
  json.key("is_rough").value(one.is_rough);
  json.key("after_ns").value(std::lround(run_ns) - one.gain->mid_ns);
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
  const std::int64_t begin = page_extent(trace).begin_ns;
  json.key("suggestions").begin_object().key("why_no_gains").value(found.why_no_gains);
  json.key("together_pct").value(found.has_gains ? std::optional(found.gain_pct()) : std::nullopt);
  json.key("rough_pct").value(found.is_rough ? found.replay_error_pct : std::nullopt);
  json.key("run_ns").value(found.run_ns > 0 ? std::optional(std::lround(found.run_ns))
                                            : std::nullopt);
  json.key("left_out").value(found.left_out).key("list").begin_array();
  for (const Suggestion& one : found.list) {
    json.begin_object().key("title").value(one.title).key("operation").value(one.operation);
    json.key("type").value(name_of(one.type)).key("priority").value(name_of(one.priority));
    json.key("description").value(one.description);
    json.key("expected").value(one.expected_improvement).key("hint").value(one.implementation_hint);
    write_code(json, one.code);
    json.key("ranks").value(1).key("of_ranks").value(1);
    write_gain(json, one, found.run_ns);
    json.key("of_rank").null().key("evidence_count").value(one.evidence_count);
    write_evidence(json, shown_evidence(one, trace, layout, begin), 0, 0);
    json.end_object();
  }
  json.end_array().end_object();
}

namespace {

// The rank that would save the most by it: what it says is shown in full.
struct Spokesman {
  const PlacedTimeline* rank = nullptr;
  const RankSuggestion* suggestion = nullptr;
};

Spokesman spokesman_for(const std::string& title, std::span<const PlacedTimeline> ranks) {
  Spokesman best;
  for (const PlacedTimeline& rank : ranks) {
    for (const RankSuggestion& one : rank.timeline.suggestions) {
      if (one.said.title != title) continue;
      const bool saves_more =
          best.rank == nullptr || one.said.gain_pct > best.suggestion->said.gain_pct;
      if (saves_more) best = {&rank, &one};
    }
  }
  return best;
}

void write_mean_gain(JsonWriter& json, const Recommendation& one) {
  json.key("gain");
  if (!one.gain_pct) {
    json.null();
    return;
  }
  json.begin_object().key("is_bound").value(one.is_bound).key("is_rough").value(one.is_rough);
  for (const char* unknown : {"after_ns", "low_ns", "mid_ns", "high_ns", "low_pct", "high_pct"}) {
    json.key(unknown).null();
  }
  json.key("mid_pct").value(*one.gain_pct).end_object();
}

void write_spokesman(JsonWriter& json, const Spokesman& from) {
  if (from.rank == nullptr) {
    json.key("description").value("").key("expected").value("").key("of_rank").null();
    json.key("evidence_count").value(0);
    write_evidence(json, {}, 0, 0);
    return;
  }
  const Suggestion& said = from.suggestion->said;
  const double run_ns = from.suggestion->run_ns;
  json.key("description").value(said.description);
  json.key("expected").value(said.expected_improvement);
  json.key("of_rank").begin_object().key("label").value(from.rank->label);
  json.key("run_ns").value(run_ns > 0 ? std::optional(std::lround(run_ns)) : std::nullopt);
  write_gain(json, said, run_ns);
  json.end_object().key("evidence_count").value(said.evidence_count);
  write_evidence(json, from.suggestion->evidence, from.rank->first_span, from.rank->start_ns);
}

}  // namespace

void write_suggestions(JsonWriter& json, const HtaReport& hta,
                       std::span<const PlacedTimeline> ranks) {
  json.key("suggestions").begin_object().key("why_no_gains").value("");
  for (const char* unknown : {"together_pct", "rough_pct", "run_ns"}) json.key(unknown).null();
  json.key("left_out").value(0).key("list").begin_array();
  for (const Recommendation& one : hta.recommendations) {
    json.begin_object().key("title").value(one.title).key("operation").value("");
    json.key("type").value(name_of(one.type)).key("priority").value(name_of(one.priority));
    json.key("hint").value(one.hint);
    write_code(json, one.code);
    json.key("ranks").value(one.ranks).key("of_ranks").value(one.of_ranks);
    write_mean_gain(json, one);
    write_spokesman(json, spokesman_for(one.title, ranks));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace fathom::report
