#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fathom/lattice.h"

// Shortest paths over compressed rows of a graph whose edges go both ways.
namespace fathom::runtime {

struct LatticeGraph {
  std::size_t size = 0;
  unsigned dimensions = 0;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> weights;  // of entering a node; empty: 1
  std::uint32_t least_weight = 1;

  std::span<const std::uint32_t> neighbours(std::uint32_t node) const {
    return std::span(targets).subspan(offsets[node], offsets[node + 1] - offsets[node]);
  }
  std::uint32_t weight(std::uint32_t node) const { return weights.empty() ? 1 : weights[node]; }
};

// Back from `to`, always to a node that is one edge nearer.
LatticePath path_of_distances(const LatticeGraph& graph, std::span<const std::uint32_t> distances,
                              std::uint32_t from, std::uint32_t to);
std::optional<LatticePath> a_star(const LatticeGraph& graph, std::uint32_t from, std::uint32_t to);
std::optional<LatticePath> bidirectional(const LatticeGraph& graph, std::uint32_t from,
                                         std::uint32_t to);

}  // namespace fathom::runtime
