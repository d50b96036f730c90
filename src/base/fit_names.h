#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::base {

// Names cut to `columns`. No two that differ look the same: those that would are cut where they
// differ, and numbered where even that does not tell them apart.
std::vector<std::string> fit_names(const std::vector<std::string>& all, std::size_t columns);

}  // namespace fathom::base
