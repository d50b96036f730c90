#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/suggestion.h"
#include "explain/analysis.h"
#include "report/hta_report.h"
#include "report/page/evidence.h"
#include "report/page/page.h"

namespace fathom::report {

// What one of several ranks should change, with the places of its evidence.
struct RankSuggestion {
  advise::Suggestion said;
  double run_ns = 0;  // what its percentages are of
  std::vector<ShownSpan> evidence;
};

// GPU work by the operator that launched it, by names, which outlive the trace.
struct NamedOperator {
  std::string name;  // empty of work that none launched
  std::uint64_t calls = 0;
  std::int64_t sum_ns = 0;
  std::vector<std::string> kernels;
};

// Most time first; none where no work has a known operator.
std::vector<NamedOperator> named_operators(const explain::Analysis& analysis, bool all_steps);

// What the page has of one of several traces, kept when the trace itself is gone.
struct RankTimeline {
  std::string source;
  PageData blocks;        // as page_timeline names them
  std::size_t spans = 0;  // that are drawn
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> base_time_ns;  // added to it, Unix time
  std::vector<NamedOperator> operators;      // of the work that `hta` counts
  std::vector<RankSuggestion> suggestions;
};

// Of `of_ranks` traces that will stand on one page: what it may carry is shared among them.
RankTimeline rank_timeline(const explain::Analysis& analysis, std::size_t of_ranks, bool all_steps);

// One of them where it stands among the others. `clock` says how that is known: "first" for the
// rank that the others are compared with, "collectives" of ranks that share some with it
// (rank_clocks.h), "unix" where the traces have the time of day, "unknown" where nothing tells and
// all begin at once.
struct PlacedTimeline {
  std::string label;          // "rank 3", else its file
  std::string short_label;    // "r3", where there is little room
  std::size_t row = 0;        // its first in the report
  std::int64_t start_ns = 0;  // from the first start of any
  std::string_view clock;
  std::size_t first_span = 0;  // its spans come after those of the ranks before it
  RankTimeline timeline;
};

// By rank.
std::vector<PlacedTimeline> place_timelines(const HtaReport& hta,
                                            std::vector<RankTimeline> timelines);

// The blocks of all of them, "timeline_0" and so on, and "ranks", which says how they stand on one
// clock: JSON [{label, short_label, suffix ("_0"), start_ns, clock}, …].
PageData page_rank_timelines(std::vector<PlacedTimeline> ranks);

}  // namespace fathom::report
