#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyze/operations/operations.h"
#include "base/interval_set.h"
#include "fathom/results.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What the time of a run is called in which no GPU worked and no thread was inside anything that
// was recorded.
inline constexpr std::string_view kNothingRecorded = "(nothing recorded on the host)";

// The `top` operations of a run by self time, frames left out. A call of the GPU runtime counts
// while no GPU works: a wait for a kernel is the kernel's time, as it is in the split of the run.
// Time of the run's `life` in which nothing was recorded is one of them, without calls. Shares are
// of all self time, of all threads and processes: none exceeds the whole.
std::vector<Bottleneck> session_bottlenecks(const trace::Trace& trace, base::Interval life,
                                            const std::vector<Operation>& operations,
                                            std::size_t top);

}  // namespace fathom::analyze
