#pragma once

#include <string>

#include "compare/history.h"

namespace fathom::report {

// What changed, at which run; a line for what did not. `top` rows at most.
std::string to_text(const compare::History& history, std::size_t top, std::size_t width);

// As docs/history.schema.json says.
std::string to_json(const compare::History& history);

}  // namespace fathom::report
