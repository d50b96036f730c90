#pragma once

#include <string>

#include "analyze/flame/flame.h"

namespace fathom::report {

// The heaviest paths as an indented tree with bars, in `width` columns.
std::string to_text(const analyze::FlameTree& tree, analyze::FlameWeight weight, std::size_t width);

// Nested objects {name, kind, calls, value, self, cpu_ns, gpu_ns, children}, `value` being the
// weight asked for, heaviest first. docs/analyses.md describes it.
std::string to_json(const analyze::FlameTree& tree, analyze::FlameWeight weight);

// One line per path, "a;b;c 1234", as flamegraph.pl and others read it.
std::string to_folded(const analyze::FlameTree& tree, analyze::FlameWeight weight);

// A file for speedscope.app.
std::string to_speedscope(const analyze::FlameTree& tree, analyze::FlameWeight weight,
                          const std::string& title);

}  // namespace fathom::report
