#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "advise/suggestion.h"

namespace fathom::report {

// The suggestions for a run, or for the ranks of one job, as a sentence each: what to do, what it
// brings where that is known, and how. Ranks that say the same say it once, with the mean of their
// gains; most first.
std::vector<std::string> recommendations(std::span<const advise::Suggestions> ranks,
                                         std::size_t top = 5);

// "what to change" and a line for each of the first few; empty where there is nothing to say.
std::string what_to_change(const advise::Suggestions& found, const std::string& source,
                           std::size_t width);

}  // namespace fathom::report
