#include <optional>

#include "analyze/hta_summary.h"
#include "report/hta_tables.h"
#include "report/page_sections.h"

namespace fathom::report {
namespace {

using analyze::percent_of;

void write_rank(base::JsonWriter& json, const analyze::RankFindings& rank) {
  const std::optional<analyze::Temporal>& time = rank.temporal;
  const auto share = [&](const char* key, std::int64_t analyze::Temporal::*ns) {
    json.key(key).value(time ? std::optional(percent_of((*time).*ns, time->total_ns))
                             : std::nullopt);
  };
  json.begin_object().key("rank").value(rank.rank).key("label").value(rank_text(rank));
  json.key("device").value(rank.device);
  json.key("total_ns").value(time ? std::optional(time->total_ns) : std::nullopt);
  share("compute_pct", &analyze::Temporal::compute_ns);
  share("communication_pct", &analyze::Temporal::communication_ns);
  share("memory_pct", &analyze::Temporal::memory_ns);
  share("idle_pct", &analyze::Temporal::idle_ns);
  json.key("host_wait_pct")
      .value(time ? std::optional(percent_of(rank.idle.host_wait_ns, time->total_ns))
                  : std::nullopt);
  json.key("overlap_pct").value(rank.comm_comp_overlap_pct).end_object();
}

}  // namespace

void write_ranks(base::JsonWriter& json, const HtaReport& hta) {
  json.key("ranks").begin_array();
  if (hta.ranks.size() > 1) {
    for (const analyze::RankFindings& rank : hta.ranks) write_rank(json, rank);
  }
  json.end_array();
}

void write_advice(base::JsonWriter& json, const HtaReport& hta) {
  json.key("advice").begin_object().key("findings").begin_array();
  for (const analyze::HtaBottleneck& found : hta.summary.bottlenecks) {
    json.begin_object().key("what").value(found.what).key("text").value(found.text);
    json.key("share_pct").value(found.share_pct).end_object();
  }
  json.end_array().key("recommendations").begin_array();
  for (const std::string& text : hta.summary.recommendations) json.value(text);
  json.end_array().end_object();
}

}  // namespace fathom::report
