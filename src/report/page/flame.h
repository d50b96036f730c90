#pragma once

#include <string>

#include "analyze/flame/flame.h"

namespace fathom::report {

// The page's block "flame": {names, kinds, parent, name, kind, part, calls, first_ns, cpu_ns,
// gpu_ns, count}, the last eight a column each with one entry a node, in order of the tree; the
// weights are each node's own. web/src/flame/tree.ts reads it.
std::string page_flame(const analyze::FlameTree& tree, analyze::FlameWeight weight);

}  // namespace fathom::report
