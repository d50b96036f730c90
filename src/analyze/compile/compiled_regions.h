#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Calls of one compiled function in a trace, by the id that torch names it by.
struct CompiledRegion {
  std::string id;  // "0/1"; empty in traces of versions that do not say it
  std::uint64_t calls = 0;
  std::int64_t host_ns = 0;  // within the calls
  std::int64_t gpu_ns = 0;   // of the work launched in them
};

// What part of a trace's GPU work compiled code launched.
struct CompiledShare {
  std::vector<CompiledRegion> regions;  // most GPU time first, then most host time
  std::int64_t gpu_ns = 0;              // of all work, whoever launched it
  std::int64_t compiled_gpu_ns = 0;
};

// A call is an outermost span that torch named "Torch-Compiled Region…" or "CompiledFunction…"; the
// latter is its backward pass too, whose GPU time therefore counts, without a function of its own.
// Nothing where the trace has no such span.
std::optional<CompiledShare> compiled_share(const trace::Trace& trace, const GpuWork& work);

}  // namespace fathom::analyze
