#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/rank_clocks.h"
#include "analyze/ranks/rank_run.h"

namespace fathom::analyze {

// Why a rank came last to a collective.
enum class LateCause : std::uint8_t {
  compute,  // its kernels since the last collective they shared took longer than those of others
  host,     // its host launched the collective later than others did
  unknown,
};

inline constexpr std::array<std::string_view, 3> kLateCauseNames = {"compute", "host", "unknown"};

constexpr std::string_view name_of(LateCause cause) {
  return kLateCauseNames[static_cast<std::size_t>(cause)];
}

// One collective of two ranks or more. Times are on the clock of the first rank.
//   arrival  when a rank's kernel began: from then on it waits for the others
//   spread   from the first to the last arrival
//   late     from the last but one to the last arrival: what the last rank alone cost
// Who came last is known only where the spread is over 20 µs and twice the residual of the clocks.
struct CollectiveSkew {
  std::uint32_t operation = 0;  // index into RankReport::operations
  std::uint32_t members = 0;
  std::int64_t start_ns = 0;  // first arrival
  std::int64_t spread_ns = 0;
  std::int64_t exchange_ns = 0;       // from the last arrival to the last end
  std::optional<std::uint32_t> last;  // row of the rank that came last
  std::int64_t late_ns = 0;
  LateCause cause = LateCause::unknown;
};

// All collectives of one operation and process group.
struct OperationSkew {
  std::string operation;
  std::string group;  // empty where not known
  std::uint64_t count = 0;
  std::int64_t spread_sum_ns = 0;
  std::int64_t spread_max_ns = 0;
  std::int64_t exchange_sum_ns = 0;
};

struct RankRow {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> device;
  RankClock clock;
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;
  std::uint64_t collectives = 0;  // of its own
  std::uint64_t shared = 0;       // with another rank here
  std::int64_t waited_ns = 0;     // in collectives, for the last to come
  std::uint64_t times_last = 0;
  std::int64_t late_ns = 0;  // summed over the times it was last
  std::array<std::uint64_t, kLateCauseNames.size()> causes = {};  // of those, by LateCause
  std::optional<double> mean_step_ns;
};

// Ranks of one run, side by side.
struct RankReport {
  std::vector<RankRow> rows;                // as the runs were given
  std::vector<OperationSkew> operations;    // most spread first
  std::vector<CollectiveSkew> collectives;  // in order of time
  std::vector<std::uint32_t> stragglers;    // rows that were last, most late time first
  std::optional<std::int64_t> world_size;
  std::vector<std::int64_t> missing;  // ranks of the world without a row, at most 1,000
  // How much longer the slowest rank computed than the mean of all, in per cent of that: between
  // the first and the last collective that all share, or, without those, in the whole traces.
  // Absent for one rank, or without compute.
  std::optional<double> compute_imbalance_pct;
};

// Any number of runs, of any length; one run has neither clock nor skew.
RankReport compare_ranks(std::span<const RankRun> runs);

}  // namespace fathom::analyze
