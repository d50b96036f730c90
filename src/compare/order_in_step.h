#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "compare/call_sites.h"

namespace fathom::compare {

// Calls whose times differ by a quarter do different things.
inline constexpr double kOtherLevel = 0.2231;  // log 1.25

// How many calls a step has of a site, where their order tells them apart: every step of every run
// that has some has as many, and the n-th takes what the n-th of all other steps takes, and not
// what the others of its own step take. `sites` is the same site in each run.
std::optional<std::size_t> ordered_calls(std::span<const CallSite* const> sites);

}  // namespace fathom::compare
