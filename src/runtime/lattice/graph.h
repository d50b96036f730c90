#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/lattice.h"

namespace fathom::runtime {

// A lattice as compressed rows. The neighbours of a node are one step away along one dimension.
struct LatticeGraph {
  std::size_t size = 0;  // nodes along each dimension
  unsigned dimensions = 0;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> weights;  // of entering a node; empty: 1
  std::uint32_t least_weight = 1;
  std::vector<bool> is_obstacle;

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(is_obstacle.size()); }
  std::span<const std::uint32_t> neighbours(std::uint32_t node) const {
    return std::span(targets).subspan(offsets[node], offsets[node + 1] - offsets[node]);
  }
  std::uint32_t weight(std::uint32_t node) const { return weights.empty() ? 1 : weights[node]; }
};

// Throws base::Error where the options do not fit together.
LatticeGraph build_graph(const LatticeOptions& options);

}  // namespace fathom::runtime
