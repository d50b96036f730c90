#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/call_sites.h"
#include "compare/sample.h"
#include "trace/trace.h"

namespace fathom::compare {

// One operation of one run, with every time it took.
struct RunOperation : SitesOfOperation {
  std::int64_t self_ns = 0;                 // of all its sites
  std::optional<double> peak_memory_bytes;  // of a scope: device memory while it ran
  std::optional<Sample> figures;  // where the source has figures of its calls and not the calls

  std::vector<std::int64_t> ns() const;  // of all its calls, site by site
};

// A run, brought down to what a comparison needs: the trace can go.
struct Run {
  std::string label;
  std::vector<RunOperation> operations;
  std::uint64_t steps = 0;              // PyTorch's; 0 where there are none
  std::optional<std::int64_t> wall_ns;  // of the run, as analyze/run/wall.h says
  std::optional<std::int64_t> peak_memory_bytes;
};

Run run_of(const trace::Trace& trace, std::string label);

}  // namespace fathom::compare
