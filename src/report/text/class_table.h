#pragma once

#include <string>
#include <vector>

#include "analyze/classes/class_times.h"

namespace fathom::report {

// GPU time by class, largest first: "  GPU time by class: GEMM 60.0 % · elementwise 10.1 % · …".
// Empty where classes tell nothing.
std::string class_line(const std::vector<analyze::ClassTime>& classes, std::size_t width);

// A row per class. Where classes tell nothing, a line that says so.
std::string class_table(const std::vector<analyze::ClassTime>& classes, std::size_t top,
                        std::size_t width);

}  // namespace fathom::report
