#pragma once

#include <cstdint>
#include <vector>

#include "advise/facts.h"

namespace fathom::advise {

// A gap of the GPU that ended with work launched in it, and for how long of it the host was on its
// way there.
struct LateLaunch {
  std::int64_t gap_ns = 0;
  trace::SpanId launch = trace::kNoSpan;
  bool is_start = false;  // the gap is before all work
};

struct LateLaunches {
  std::vector<LateLaunch> all;  // the longest few first
  std::int64_t total_ns = 0;
};

// Without what another rule sees a cause for: loading and preparing data, waiting, set-up, filling
// gradients with zeros, long operations in long gaps; and without time in which the GPU ran what
// was not recorded.
LateLaunches late_launches(const Facts& facts);

// Whether the host does nothing in this piece but get to its next launch.
bool is_dispatch(const Facts& facts, std::size_t piece);

// How the host launches, by its calls that had GPU work.
struct LaunchPace {
  std::size_t launches = 0;
  std::int64_t median_apart_ns = 0;  // from one to the next of the same thread
  std::int64_t median_kernel_ns = 0;
  std::size_t graphs = 0;     // calls that launch a graph
  std::size_t of_graphs = 0;  // pieces of work that these launched
  std::size_t work = 0;       // pieces of work with a launch
  std::size_t compiled = 0;   // in code that torch.compile made
  bool shapes_vary = false;   // most kernels of compiled code run with grids of several sizes
};

LaunchPace launch_pace(const Facts& facts);

}  // namespace fathom::advise
