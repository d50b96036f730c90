#pragma once

#include <string_view>

#include "analyze/compile/compile_log.h"

namespace fathom::analyze {

// What torch's text about a graph break says (artifact dynamo_graph_break_reason).
GraphBreak parse_graph_break(std::string_view text);

// What was raised, of a Python traceback: its first line without the type's module, "Unsupported:
// …".
std::string exception_of(std::string_view traceback);

}  // namespace fathom::analyze
