#pragma once

#include <string>
#include <string_view>

namespace fathom::trace {

// The arguments of the event at the start of `text`, as valid JSON; empty where there are none.
std::string args_of_event(std::string_view text);

// Any text that resembles a JSON value → valid JSON: what is open is closed, bad escapes and
// control characters are escaped, NaN and the like become null, commas are put right.
std::string repair_json(std::string_view text);

}  // namespace fathom::trace
