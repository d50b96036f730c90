#pragma once

#include <string>
#include <vector>

#include "fathom/results.h"
#include "profiler/core.h"

namespace fathom::detail {

Summaries summarize(const Core& core);
std::vector<Bottleneck> find_bottlenecks(const Summaries& summaries, std::size_t top_n);
std::vector<Entry> list_entries(const Core& core);

// The same as text for a terminal of so many columns.
std::string summary_table(const Summaries& summaries, const Drops& drops, std::size_t width);
std::string bottlenecks_table(const std::vector<Bottleneck>& bottlenecks, std::size_t of,
                              std::size_t width);

}  // namespace fathom::detail
