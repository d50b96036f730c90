#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::analyze {

// How many blocks a kernel had, by its arguments ("grid": [8, 1, 1]); absent where they do not say.
std::optional<std::int64_t> blocks_of(const std::string& args);

}  // namespace fathom::analyze
