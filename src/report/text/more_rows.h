#pragma once

#include <cstddef>
#include <string>

namespace fathom::report {

// The line below a table that was cut: "  … 41 more (--top 51)". Empty where nothing was cut.
std::string more_rows(std::size_t all, std::size_t shown);

}  // namespace fathom::report
