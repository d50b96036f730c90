#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::trace {

// The arguments of an event: keys (not escaped) and JSON texts, each key once.
using Args = std::vector<std::pair<std::string, std::string>>;

// Takes apart the JSON object text that Trace::args_at gives. Of keys that come twice the last wins;
// text that is not proper JSON (some tracers write NaN, or broken escapes) is repaired first.
Args split_args(std::string_view json);

const std::string* find_arg(const Args& args, std::string_view key);
void remove_arg(Args& args, std::string_view key);

}  // namespace fathom::trace
