#include "runtime/lattice/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace fathom::runtime {
namespace {

constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostTargets = UINT32_MAX;

std::uint32_t count_nodes(const LatticeOptions& options) {
  if (options.dimensions == 0 || options.size == 0) {
    throw base::Error("lattice", "no node", "Dimensions and size are at least 1");
  }
  std::uint64_t nodes = 1;
  for (unsigned dimension = 0; dimension < options.dimensions; ++dimension) {
    if (options.size > kMostNodes / nodes) {
      throw base::Error("lattice", fmt::format("{} to the power of {} nodes are too many",
                                               options.size, options.dimensions));
    }
    nodes *= options.size;
    if (options.size == 1) break;
  }
  if (nodes * 2 * options.dimensions > kMostTargets) {
    throw base::Error("lattice", fmt::format("{} nodes of {} dimensions have too many edges", nodes,
                                             options.dimensions));
  }
  return static_cast<std::uint32_t>(nodes);
}

std::vector<bool> marked(const std::vector<std::uint32_t>& nodes, std::uint32_t count) {
  std::vector<bool> marks(count);
  for (const std::uint32_t node : nodes) {
    if (node >= count) {
      throw base::Error("lattice", fmt::format("obstacle at node {}: there are {}", node, count));
    }
    marks[node] = true;
  }
  return marks;
}

std::uint32_t least_of(const std::vector<std::uint32_t>& weights, std::uint32_t nodes) {
  if (weights.empty()) return 1;
  if (weights.size() != nodes) {
    throw base::Error("lattice", fmt::format("{} weights for {} nodes", weights.size(), nodes));
  }
  const std::uint32_t least = *std::ranges::min_element(weights);
  if (least == 0) throw base::Error("lattice", "a weight of 0", "The least is 1");
  return least;
}

void add_edges(LatticeGraph& graph) {
  const auto size = static_cast<std::uint32_t>(graph.size);
  graph.offsets.reserve(graph.nodes() + std::size_t{1});
  graph.offsets.push_back(0);
  // A side of the lattice has no edges outwards.
  const std::size_t sides = graph.nodes() / size;
  graph.targets.reserve(2 * graph.dimensions * (graph.nodes() - sides));
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    std::uint32_t step = 1;
    std::uint32_t rest = node;
    for (unsigned dimension = 0; dimension < graph.dimensions && !graph.is_obstacle[node];
         ++dimension) {
      const std::uint32_t at = rest % size;
      if (at > 0 && !graph.is_obstacle[node - step]) graph.targets.push_back(node - step);
      if (at + 1 < size && !graph.is_obstacle[node + step]) graph.targets.push_back(node + step);
      rest /= size;
      step *= size;
    }
    graph.offsets.push_back(static_cast<std::uint32_t>(graph.targets.size()));
  }
}

}  // namespace

LatticeGraph build_graph(const LatticeOptions& options) {
  const std::uint32_t nodes = count_nodes(options);
  LatticeGraph graph;
  graph.size = options.size;
  graph.dimensions = options.dimensions;
  graph.weights = options.weights;
  graph.least_weight = least_of(options.weights, nodes);
  graph.is_obstacle = marked(options.obstacles, nodes);
  add_edges(graph);
  return graph;
}

}  // namespace fathom::runtime
