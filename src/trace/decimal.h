#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::trace {

// A decimal number times 10^`places`, rounded to a whole one, never through a double as long as it
// is written without an exponent: "1.5" with 9 places is 1500000000. Nothing where the text is no
// number, or too large to be a time.
std::optional<std::int64_t> parse_scaled(std::string_view text, int places);

// The reverse, with no digit too many: 1500000000 with 9 places is "1.5".
void append_scaled(std::string& out, std::int64_t number, int places);

}  // namespace fathom::trace
