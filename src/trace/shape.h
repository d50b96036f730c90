#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::trace {

// How shapes read, whatever source they come from.

// "[32, 1, 1]" and "[256, 1, 1]" → "grid 32x1x1, block 256x1x1".
void append_launch(std::string& out, std::string_view grid, std::string_view block);

std::string launch_text(const std::array<std::int64_t, 3>& grid,
                        const std::array<std::int64_t, 3>& block);

// "[[32, 64], [64, 8], []]" → "32x64, 64x8": what is not a tensor has no shape. Adds nothing where
// there is none.
void append_shapes(std::string& out, std::string_view operands);

}  // namespace fathom::trace
