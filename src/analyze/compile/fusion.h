#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::analyze {

// Operations of a graph after all passes: lines that call torch.ops.
std::uint64_t graph_operations(std::string_view graph);

// What generated code runs: kernels (x.run(…), cpp_fused_x(…)) and calls of others'
// (extern_kernels, torch.ops, aten) within its function `call`.
std::uint64_t generated_calls(std::string_view code);

}  // namespace fathom::analyze
