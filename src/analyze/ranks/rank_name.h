#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::analyze {

// The rank that a file's name tells: "worker3_step_12…", "sampled_rank-1.json", "rank_07.json" →
// the number.
std::optional<std::int64_t> rank_in_name(const std::string& source);

}  // namespace fathom::analyze
