#pragma once

#include <cstddef>
#include <cstdint>

#include "fathom/operation.h"

// Loops over plain arrays that the compiler makes vector code of; one thread each.
namespace fathom::runtime {

void xor_range(std::uint32_t* out, const std::uint32_t* a, const std::uint32_t* b,
               std::size_t words);
void elementwise_range(Operation operation, float alpha, float* out, const float* a, const float* b,
                       std::size_t elements);
// Sums of few neighbours first, so that the error does not grow with the number of elements.
double sum_range(const float* a, std::size_t elements);
// Breadth first, by a queue of nodes.
void breadth_first(const std::uint32_t* offsets, const std::uint32_t* targets, std::size_t nodes,
                   std::uint32_t source, std::uint32_t* distances);

}  // namespace fathom::runtime
