#pragma once

namespace fathom::runtime {

// OpenCL C 1.2. Every buffer comes with the element at which its data begin.
extern const char* const opencl_source;

inline constexpr unsigned kTile = 16;      // of the matrix multiply: kTile² work items
inline constexpr unsigned kSumGroup = 64;  // work items that sum together
inline constexpr unsigned kMostSumGroups = 256;

}  // namespace fathom::runtime
