#include "report/page/rank_timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyze/operations/steps.h"
#include "base/json_writer.h"
#include "report/page/layout.h"
#include "report/page/timeline.h"

namespace fathom::report {
namespace {

// A page of three or four bytes per span should still be one that can be mailed.
constexpr std::size_t kMostSpans = 2'000'000;
constexpr std::size_t kMostArgsBytes = 4 << 20;

// Where a trace begins on the clock that all share, and how that is known.
struct Start {
  std::int64_t ns = 0;
  std::string_view clock;
};

void name_after(const analyze::RankFindings& rank, PlacedTimeline& placed) {
  if (rank.rank) {
    placed.label = fmt::format("rank {}", *rank.rank);
    placed.short_label = fmt::format("r{}", *rank.rank);
  } else {
    placed.label = placed.short_label = std::filesystem::path(rank.source).filename().string();
  }
}

Start start_of(const HtaReport& hta, const std::string& source, const RankTimeline& timeline,
               const RankTimeline& first) {
  const bool has_unix_time = timeline.base_time_ns && first.base_time_ns;
  const std::int64_t own = timeline.begin_ns + timeline.base_time_ns.value_or(0);
  if (&timeline == &first) return {own, "first"};
  const bool is_compared = hta.comparison && hta.comparison->rows.size() == hta.ranks.size();
  for (std::size_t i = 0; is_compared && i < hta.ranks.size(); ++i) {
    const std::optional<std::int64_t>& offset = hta.comparison->rows[i].clock.offset_ns;
    if (hta.ranks[i].source == source && offset) return {own - *offset, "collectives"};
  }
  if (has_unix_time) return {own, "unix"};
  return {first.begin_ns + first.base_time_ns.value_or(0), "unknown"};
}

std::string write_ranks(const std::vector<PlacedTimeline>& ranks) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    json.begin_object().key("label").value(ranks[i].label);
    json.key("short_label").value(ranks[i].short_label);
    json.key("suffix").value(fmt::format("_{}", i));
    json.key("start_ns").value(ranks[i].start_ns);
    json.key("clock").value(ranks[i].clock).end_object();
  }
  json.end_array();
  return out;
}

}  // namespace

RankTimeline rank_timeline(const explain::Analysis& analysis, std::size_t of_ranks,
                           bool all_steps) {
  const trace::Trace& trace = analysis.trace();
  const TimelineSize size = {kMostSpans / of_ranks, kMostArgsBytes / of_ranks};
  const PageLayout layout = page_layout(trace, size.most_spans);
  RankTimeline rank;
  rank.source = analysis.source();
  rank.blocks = page_timeline(analysis, size);
  rank.spans = layout.order.size();
  rank.begin_ns = page_extent(trace).begin_ns;
  rank.base_time_ns = trace.run.base_time_ns;
  rank.operators = named_operators(analysis, all_steps);
  const advise::Suggestions& found = analysis.suggestions();
  for (const advise::Suggestion& one : found.list) {
    rank.suggestions.push_back(
        {one, found.run_ns, shown_evidence(one, trace, layout, rank.begin_ns)});
  }
  return rank;
}

std::vector<PlacedTimeline> place_timelines(const HtaReport& hta,
                                            std::vector<RankTimeline> timelines) {
  std::vector<PlacedTimeline> ranks;
  for (RankTimeline& timeline : timelines) {
    const auto row = std::ranges::find(hta.ranks, timeline.source, &analyze::RankFindings::source);
    if (row == hta.ranks.end()) continue;
    PlacedTimeline& rank = ranks.emplace_back();
    name_after(*row, rank);
    rank.row = static_cast<std::size_t>(row - hta.ranks.begin());
    rank.timeline = std::move(timeline);
  }
  std::ranges::stable_sort(ranks, {}, &PlacedTimeline::row);
  std::int64_t begin_ns = INT64_MAX;
  std::size_t spans = 0;
  for (PlacedTimeline& rank : ranks) {
    const Start start = start_of(hta, rank.timeline.source, rank.timeline, ranks.front().timeline);
    rank.start_ns = start.ns;
    rank.clock = start.clock;
    rank.first_span = spans;
    spans += rank.timeline.spans;
    begin_ns = std::min(begin_ns, start.ns);
  }
  for (PlacedTimeline& rank : ranks) rank.start_ns -= begin_ns;
  return ranks;
}

PageData page_rank_timelines(std::vector<PlacedTimeline> ranks) {
  PageData data;
  if (!ranks.empty()) data.emplace_back("ranks", write_ranks(ranks));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (auto& [name, bytes] : ranks[i].timeline.blocks) {
      data.emplace_back(fmt::format("{}_{}", name, i), std::move(bytes));
    }
  }
  return data;
}

}  // namespace fathom::report
