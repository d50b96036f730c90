#include <algorithm>
#include <optional>
#include <span>

#include "analyze/hta/hta_summary.h"
#include "report/page/part.h"
#include "report/page/sections.h"
#include "report/ranks_report.h"
#include "report/text/hta_tables.h"

namespace fathom::report {
namespace {

using analyze::percent_of;

// `row` is of the same rank where ranks were compared, else null; `part` is which of the page's
// timelines has it.
void write_rank(base::JsonWriter& json, const HtaReport& hta, const analyze::RankFindings& rank,
                const analyze::RankRow* row, std::optional<std::size_t> part) {
  const std::optional<analyze::Temporal> time = analyze::temporal_of_run(rank);
  const auto share = [&](const char* key, std::int64_t analyze::Temporal::*ns) {
    json.key(key).value(time ? std::optional(percent_of((*time).*ns, time->total_ns))
                             : std::nullopt);
  };
  json.begin_object().key("rank").value(rank.rank).key("label").value(rank_text(hta, rank));
  json.key("device").value(rank.device).key("part").value(part);
  json.key("total_ns").value(time ? std::optional(time->total_ns) : std::nullopt);
  share("compute_pct", &analyze::Temporal::compute_ns);
  share("communication_pct", &analyze::Temporal::communication_ns);
  share("memory_pct", &analyze::Temporal::memory_ns);
  share("idle_pct", &analyze::Temporal::idle_ns);
  json.key("host_wait_pct")
      .value(
          time ? std::optional(percent_of(rank.in_run->gpus.front().host_late_ns(), time->total_ns))
               : std::nullopt);
  json.key("overlap_pct").value(rank.comm_comp_overlap_pct);
  if (row != nullptr) {
    json.key("waited_ns").value(row->waited_ns).key("late_ns").value(row->late_ns);
    json.key("times_last").value(row->times_last).key("mean_step_ns").value(row->mean_step_ns);
  }
  json.end_object();
}

void write_skew(base::JsonWriter& json, const analyze::RankReport& comparison) {
  json.begin_object().key("story").value(ranks_story(comparison));
  json.key("imbalance_pct").value(comparison.compute_imbalance_pct);
  json.key("collectives").begin_array();
  for (const analyze::OperationSkew& skew : comparison.operations) {
    json.begin_object().key("name").value(skew.operation).key("group").value(skew.group);
    const auto mean = [&](std::int64_t sum_ns) {
      return static_cast<double>(sum_ns) / static_cast<double>(skew.count);
    };
    json.key("count").value(skew.count).key("mean_spread_ns").value(mean(skew.spread_sum_ns));
    json.key("worst_ns").value(skew.spread_max_ns);
    json.key("mean_exchange_ns").value(mean(skew.exchange_sum_ns)).end_object();
  }
  json.end_array().end_object();
}

std::optional<std::size_t> part_of(const analyze::RankFindings& rank,
                                   std::span<const PlacedTimeline> placed) {
  if (placed.empty()) return 0;  // the one that there is
  const auto source = [](const PlacedTimeline& one) { return one.timeline.source; };
  const auto found = std::ranges::find(placed, rank.source, source);
  if (found == placed.end()) return std::nullopt;
  return static_cast<std::size_t>(found - placed.begin());
}

}  // namespace

void write_ranks(base::JsonWriter& json, const HtaReport& hta,
                 std::span<const PlacedTimeline> placed) {
  const bool several = hta.ranks.size() > 1;
  const bool compared = hta.comparison && hta.comparison->rows.size() == hta.ranks.size();
  json.key("ranks").begin_array();
  for (std::size_t i = 0; several && i < hta.ranks.size(); ++i) {
    write_rank(json, hta, hta.ranks[i], compared ? &hta.comparison->rows[i] : nullptr,
               part_of(hta.ranks[i], placed));
  }
  json.end_array().key("skew");
  if (several && compared) {
    write_skew(json, *hta.comparison);
  } else {
    json.null();
  }
}

void write_advice(base::JsonWriter& json, const HtaReport& hta) {
  json.key("advice").begin_object().key("findings").begin_array();
  for (const analyze::HtaBottleneck& found : hta.summary.bottlenecks) {
    json.begin_object().key("what").value(name_of(found.loss));
    json.key("part").value(page_part(found.loss)).key("meaning").value(meaning_of(found.loss));
    json.key("time_ns").value(found.time_ns).key("share_pct").value(found.share_pct).end_object();
  }
  json.end_array().key("recommendations").begin_array();
  for (const Recommendation& one : hta.recommendations) {
    json.begin_object().key("title").value(one.title).key("gain_pct").value(one.gain_pct);
    json.key("is_bound").value(one.is_bound).key("is_rough").value(one.is_rough);
    json.key("ranks").value(one.ranks);
    json.key("of_ranks").value(one.of_ranks).key("hint").value(one.hint).end_object();
  }
  json.end_array().end_object();
}

}  // namespace fathom::report
