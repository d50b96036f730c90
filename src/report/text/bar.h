#pragma once

#include <cstddef>
#include <string>

namespace fathom::report {

// A bar of `columns` columns, `share` (0 to 1) of it filled, to an eighth of a column; the rest is
// blank.
std::string bar(double share, std::size_t columns);

}  // namespace fathom::report
