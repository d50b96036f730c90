#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "compare/call_sites.h"

namespace fathom::compare {

// How many calls a step has of a site, where their order tells them apart: every step of every run
// has as many, and the n-th takes what the n-th of the other steps takes, and not what the others
// of its own step take. `sites` is the same site in each run.
std::optional<std::size_t> ordered_calls(std::span<const CallSite* const> sites);

}  // namespace fathom::compare
