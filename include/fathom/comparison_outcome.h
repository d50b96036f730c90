#pragma once

#include <cstdint>

namespace fathom {

// What a comparison says of all operations and the whole together, as the exit status of
// `fathom compare --gate` does.
enum class ComparisonOutcome : std::uint8_t {
  no_regression,
  regression,
  inconclusive,    // something may have got slower, and these runs do not decide it
  not_comparable,  // too little of the time is in operations that both sides have
};

}  // namespace fathom
