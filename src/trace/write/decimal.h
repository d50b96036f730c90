#pragma once

#include <cstdint>
#include <string>

namespace fathom::trace {

// Appends number × 10^-`places` with no digit too many: 1500000000 with 9 places is "1.5".
void append_scaled(std::string& out, std::int64_t number, int places);

}  // namespace fathom::trace
