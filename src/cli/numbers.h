#pragma once

#include <cstdint>
#include <limits>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class Validator;
}

// Checks of numbers on the command line that say in plain words what is expected.
namespace fathom::cli {

CLI::Validator number(double least, double most = std::numeric_limits<double>::infinity());
CLI::Validator whole_number(std::int64_t least,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace fathom::cli
