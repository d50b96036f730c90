#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/lattice/graph.h"

// Shortest paths over compressed rows of a graph whose edges go both ways.
namespace fathom::runtime {

// Back from `to`, always to a node that is one edge nearer.
LatticePath path_of_distances(const LatticeGraph& graph, std::span<const std::uint32_t> distances,
                              std::uint32_t from, std::uint32_t to);
std::optional<LatticePath> a_star(const LatticeGraph& graph, std::uint32_t from, std::uint32_t to);
std::optional<LatticePath> bidirectional(const LatticeGraph& graph, std::uint32_t from,
                                         std::uint32_t to);

}  // namespace fathom::runtime
