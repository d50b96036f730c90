#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/operations/operations.h"
#include "trace/trace.h"

namespace fathom::report {

inline constexpr std::size_t kHistogramBins = 24;

// How many calls of an operation took how long. Bin i is of durations from
// min · (max / min)^(i / kHistogramBins), where the shortest counts as 1 ns at least.
using Histogram = std::array<std::uint64_t, kHistogramBins>;

// One an operation, in their order. All zero for what is not GPU work, for operations whose calls
// all took the same time, and beyond the first `most` of the others.
std::vector<Histogram> gpu_histograms(const trace::Trace& trace,
                                      const std::vector<analyze::Operation>& operations,
                                      std::size_t most);

}  // namespace fathom::report
