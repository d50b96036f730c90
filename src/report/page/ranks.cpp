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

// Where a rank stands on the page.
struct RankPlace {
  std::size_t part = 0;       // which of the page's timelines has it
  std::int64_t begin_ns = 0;  // when the page begins, on the clock of the rank
};

// `row` is of the same rank where ranks were compared, else null.
void write_rank(base::JsonWriter& json, const HtaReport& hta, const analyze::RankFindings& rank,
                const analyze::RankRow* row, const std::optional<RankPlace>& place) {
  const std::optional<analyze::Temporal> time = analyze::temporal_of_run(rank);
  const auto share = [&](const char* key, std::int64_t analyze::Temporal::*ns) {
    json.key(key).value(time ? std::optional(percent_of((*time).*ns, time->total_ns))
                             : std::nullopt);
  };
  json.begin_object().key("rank").value(rank.rank).key("label").value(rank_text(hta, rank));
  json.key("device").value(rank.device).key("part");
  json.value(place ? std::optional(place->part) : std::nullopt).key("window");
  if (place && rank.in_run) {
    const base::Interval& run = rank.in_run->wall.time;
    json.begin_array().value(run.begin - place->begin_ns);
    json.value(run.end - place->begin_ns).end_array();
  } else {
    json.null();
  }
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

std::optional<RankPlace> place_of(const analyze::RankFindings& rank,
                                  std::span<const PlacedTimeline> placed) {
  const auto source = [](const PlacedTimeline& one) { return one.timeline.source; };
  const auto found = std::ranges::find(placed, rank.source, source);
  if (found == placed.end()) return std::nullopt;
  return RankPlace{static_cast<std::size_t>(found - placed.begin()),
                   found->timeline.begin_ns - found->start_ns};
}

template <typename PlaceOf>
void write_all(base::JsonWriter& json, const HtaReport& hta, const PlaceOf& place_of_rank) {
  const bool several = hta.ranks.size() > 1;
  const bool compared = hta.comparison && hta.comparison->rows.size() == hta.ranks.size();
  json.key("ranks").begin_array();
  for (std::size_t i = 0; several && i < hta.ranks.size(); ++i) {
    write_rank(json, hta, hta.ranks[i], compared ? &hta.comparison->rows[i] : nullptr,
               place_of_rank(hta.ranks[i]));
  }
  json.end_array().key("skew");
  if (several && compared) {
    write_skew(json, *hta.comparison);
  } else {
    json.null();
  }
}

}  // namespace

void write_ranks(base::JsonWriter& json, const HtaReport& hta, std::int64_t begin_ns) {
  write_all(json, hta, [&](const analyze::RankFindings&) {
    return std::optional(RankPlace{0, begin_ns});
  });
}

void write_ranks(base::JsonWriter& json, const HtaReport& hta,
                 std::span<const PlacedTimeline> placed) {
  write_all(json, hta, [&](const analyze::RankFindings& rank) { return place_of(rank, placed); });
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
