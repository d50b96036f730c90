#pragma once

#include "runtime/lattice/graph.h"

namespace fathom::runtime {

// Searches run where `compute` finds them to be fastest.
LatticeStructure structure_of(const LatticeGraph& graph, Compute& compute);

}  // namespace fathom::runtime
