#pragma once

#include <string>

#include "analyze/flame/flame.h"

namespace fathom::report {

using analyze::FlameNode;
using analyze::FlameNodeId;
using analyze::FlameTree;
using analyze::FlameWeight;

// The heaviest paths as an indented tree with bars, in `width` columns.
std::string to_text(const FlameTree& tree, FlameWeight weight, std::size_t width);

// Nested objects {name, kind, calls, value, self, cpu_ns, gpu_ns, children}, `value` being the
// weight asked for, heaviest first. docs/analyses.md describes it.
std::string to_json(const FlameTree& tree, FlameWeight weight);

// One line per path, "a;b;c 1234", as flamegraph.pl and others read it.
std::string to_folded(const FlameTree& tree, FlameWeight weight);

// A file for speedscope.app.
std::string to_speedscope(const FlameTree& tree, FlameWeight weight, const std::string& title);

}  // namespace fathom::report
