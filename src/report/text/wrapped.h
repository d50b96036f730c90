#pragma once

#include <cstddef>
#include <string>

namespace fathom::report {

// Text in lines of at most `width` columns: the first begins with `first`, the others as far in.
std::string wrapped(const std::string& text, const std::string& first, std::size_t width);

}  // namespace fathom::report
