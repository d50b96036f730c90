#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/analysis.h"
#include "report/hta_report.h"
#include "report/page/page.h"

namespace fathom::report {

// The timeline of one of several traces, kept when the trace itself is gone.
struct RankTimeline {
  std::string source;
  PageData blocks;  // as page_timeline names them
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> base_time_ns;  // added to it, Unix time
};

// Of `of_ranks` traces that will stand on one page: what it may carry is shared among them.
RankTimeline rank_timeline(const explain::Analysis& analysis, std::size_t of_ranks);

// The blocks of all of them, "timeline_0" and so on, and "ranks", which says how they stand on one
// clock: JSON [{label, suffix ("_0"), start_ns (from the first start of any), clock}, …] by rank.
// `clock` says how that is known: "first" for the rank that the others are compared with,
// "collectives" of ranks that share some with it (rank_clocks.h), "unix" where the traces have the
// time of day, "unknown" where nothing tells and all begin at once.
PageData page_rank_timelines(const HtaReport& hta, std::vector<RankTimeline> timelines);

}  // namespace fathom::report
