#include "runtime/lattice/structure.h"

#include <algorithm>

namespace fathom::runtime {
namespace {

// The farthest node that a search reached.
std::uint32_t farthest(std::span<const std::uint32_t> distances) {
  std::uint32_t found = 0;
  for (std::uint32_t node = 0; node < distances.size(); ++node) {
    if (distances[node] == kNotReached) continue;
    if (distances[found] == kNotReached || distances[node] > distances[found]) found = node;
  }
  return found;
}

struct Components {
  std::size_t count = 0;
  std::size_t largest = 0;
  std::uint32_t node_of_largest = 0;
};

Components components_of(const LatticeGraph& graph) {
  Components all;
  std::vector<bool> seen = graph.is_obstacle;
  std::vector<std::uint32_t> open;
  for (std::uint32_t start = 0; start < seen.size(); ++start) {
    if (seen[start]) continue;
    ++all.count;
    std::size_t nodes = 0;
    seen[start] = true;
    open = {start};
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      ++nodes;
      for (const std::uint32_t next : graph.neighbours(node)) {
        if (seen[next]) continue;
        seen[next] = true;
        open.push_back(next);
      }
    }
    if (nodes > all.largest) all.largest = nodes, all.node_of_largest = start;
  }
  return all;
}

}  // namespace

LatticeStructure structure_of(const LatticeGraph& graph, Compute& compute) {
  LatticeStructure found = {.nodes = graph.nodes(), .edges = graph.targets.size() / 2};
  found.obstacles = static_cast<std::size_t>(std::ranges::count(graph.is_obstacle, true));
  const std::size_t free_nodes = found.nodes - found.obstacles;
  if (free_nodes == 0) return found;
  found.least_degree = SIZE_MAX;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    if (graph.is_obstacle[node]) continue;
    const std::size_t degree = graph.neighbours(node).size();
    found.least_degree = std::min(found.least_degree, degree);
    found.most_degree = std::max(found.most_degree, degree);
  }
  found.mean_degree = static_cast<double>(graph.targets.size()) / static_cast<double>(free_nodes);
  const Components components = components_of(graph);
  found.components = components.count;
  found.largest_component = components.largest;
  std::vector<std::uint32_t> distances(graph.nodes());
  std::uint32_t start = components.node_of_largest;
  for (int sweep = 0; sweep < 2; ++sweep) {
    compute.graph_search(distances, graph.offsets, graph.targets, start);
    start = farthest(distances);
  }
  found.diameter_at_least = distances[start];
  return found;
}

}  // namespace fathom::runtime
