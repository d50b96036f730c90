#include "report/page/rank_timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json_writer.h"
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

struct Placed {
  std::string label;
  std::size_t row = 0;  // its first in the report
  Start start;
  RankTimeline timeline;
};

std::string label_of(const analyze::RankFindings& rank) {
  if (rank.rank) return fmt::format("rank {}", *rank.rank);
  return std::filesystem::path(rank.source).filename().string();
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

std::string write_ranks(const std::vector<Placed>& ranks) {
  std::int64_t begin_ns = INT64_MAX;
  for (const Placed& rank : ranks) begin_ns = std::min(begin_ns, rank.start.ns);
  std::string out;
  base::JsonWriter json(out);
  json.begin_array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    json.begin_object().key("label").value(ranks[i].label);
    json.key("suffix").value(fmt::format("_{}", i));
    json.key("start_ns").value(ranks[i].start.ns - begin_ns);
    json.key("clock").value(ranks[i].start.clock).end_object();
  }
  json.end_array();
  return out;
}

}  // namespace

RankTimeline rank_timeline(const explain::Analysis& analysis, std::size_t of_ranks) {
  const trace::Trace& trace = analysis.trace();
  const TimelineSize size = {kMostSpans / of_ranks, kMostArgsBytes / of_ranks};
  return {analysis.source(), page_timeline(analysis, size), page_extent(trace).begin_ns,
          trace.run.base_time_ns};
}

PageData page_rank_timelines(const HtaReport& hta, std::vector<RankTimeline> timelines) {
  std::vector<Placed> ranks;
  for (RankTimeline& timeline : timelines) {
    const auto row = std::ranges::find(hta.ranks, timeline.source, &analyze::RankFindings::source);
    if (row == hta.ranks.end()) continue;
    const auto at = static_cast<std::size_t>(row - hta.ranks.begin());
    ranks.push_back({label_of(*row), at, {}, std::move(timeline)});
  }
  std::ranges::stable_sort(ranks, {}, &Placed::row);
  PageData data;
  for (Placed& rank : ranks) {
    rank.start = start_of(hta, rank.timeline.source, rank.timeline, ranks.front().timeline);
  }
  if (!ranks.empty()) data.emplace_back("ranks", write_ranks(ranks));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (auto& [name, bytes] : ranks[i].timeline.blocks) {
      data.emplace_back(fmt::format("{}_{}", name, i), std::move(bytes));
    }
  }
  return data;
}

}  // namespace fathom::report
