#pragma once

#include <cstddef>
#include <vector>

#include "analyze/operations/operations.h"
#include "fathom/results.h"
#include "trace/trace.h"

namespace fathom::analyze {

// The `top` operations of a run by self time, frames left out. A call of the GPU runtime counts
// while no GPU works: a wait for a kernel is the kernel's time, as it is in the split of the run.
std::vector<Bottleneck> session_bottlenecks(const trace::Trace& trace,
                                            const std::vector<Operation>& operations,
                                            std::size_t top);

}  // namespace fathom::analyze
