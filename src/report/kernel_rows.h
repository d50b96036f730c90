#pragma once

#include <cstdint>

namespace fathom::report {

// What a row of the table of GPU work stands for: all work of one name, or of one class
// (analyze/classes/kernel_class.h).
enum class KernelRows : std::uint8_t { by_name, by_class };

}  // namespace fathom::report
