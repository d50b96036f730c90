#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "trace/trace.h"

namespace fathom::analyze {

// The GPU work that one operator of a framework, or scope of the library, launched: it is the
// innermost around the call.
struct LaunchingOperator {
  std::string_view name;  // lives as long as the trace; empty of work that none launched
  std::uint64_t calls = 0;
  std::int64_t sum_ns = 0;
  std::vector<trace::NameId> kernels;  // what it launched, each once, by name id
};

// All GPU work, by what launched it, most time first; ties by name. None where no work has a known
// operator: then there is nothing to tell apart.
std::vector<LaunchingOperator> launching_operators(const trace::Trace& trace, const GpuWork& work);

}  // namespace fathom::analyze
