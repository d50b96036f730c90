#pragma once

#include "advise/rules.h"

namespace fathom::advise {

struct AttributionOptions {
  std::int64_t replayed_ns = 0;  // the run without any change,
  double error = 0;              // and how far that is off (replay_error)
  bool all = false;              // those that bring less than 3 %, too
};

// Replays the changes that have an edit, and adds those that are worth it: that which brings most
// first, and what each adds to those before it (suggest.h).
void attribute_gains(const Facts& facts, Candidates& candidates, const AttributionOptions& options,
                     Suggestions& into);

Priority priority_of(double gain_pct);

}  // namespace fathom::advise
