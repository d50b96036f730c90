#pragma once

#include <cstdint>

namespace fathom {

// What a comparison says of one operation: docs/compare.md says how it is decided.
enum class ChangeType : std::uint8_t {
  improvement,
  regression,
  no_change,
  added,         // NEW: only in the current runs
  removed,       // only in the baseline
  inconclusive,  // neither a change nor its absence can be told from these runs
  unstable,      // jumps between two levels that are further apart than the change
};

}  // namespace fathom
