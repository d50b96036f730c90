#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/ranks/rank_run.h"

namespace fathom::analyze {

// How a rank's clock stands to that of the first rank.
struct RankClock {
  // Its clock shows so much more at the same instant. Absent where nothing tells: no collective of
  // this rank is known to be one of another.
  std::optional<std::int64_t> offset_ns;
  // How well the collectives agree on that: the median distance of one from the estimate.
  std::int64_t residual_ns = 0;
  std::uint64_t matched = 0;  // collectives the estimate rests on; 0 for the first rank
};

// One collective as seen by all ranks that took part in it.
struct SharedCollective {
  struct Member {
    std::uint32_t run = 0;         // index into the runs given
    std::uint32_t collective = 0;  // index into its collectives
  };
  std::vector<Member> members;  // by run
};

// Ranks brought onto one clock.
//
// No rank can leave a collective before the last has come and the data are exchanged, so all leave
// within microseconds of each other, whenever they came. The offset of a clock is the median of the
// differences of the ends of the collectives that two ranks share.
//
// Which are the same: those of one key (operation, process group, size) come in one order on all
// ranks, but a trace may begin later, or miss some. Of all pairs of one key that are up to 8 places
// apart, the difference of ends that most pairs agree on (within 100 µs) is the offset; pairs
// within 1 ms of it are the same collective.
//
// Not modelled: clocks that drift within a trace (it shows in the residual).
struct RankClocks {
  std::vector<RankClock> clocks;              // a run each
  std::vector<SharedCollective> collectives;  // of two members or more, by aligned end
};

RankClocks align_clocks(std::span<const RankRun> runs);

}  // namespace fathom::analyze
