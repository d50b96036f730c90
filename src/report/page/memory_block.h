#pragma once

#include <string>

#include "explain/analysis.h"

namespace fathom::report {

// The page's block "memory": of each device, in the order of the summary, the sentences about it,
// what was reserved and unused, allocations that failed, who had how much over time, and each block
// with its stack. Empty where the trace has no device memory. web/src/memory/block.ts reads it.
std::string page_memory(const explain::Analysis& analysis);

}  // namespace fathom::report
