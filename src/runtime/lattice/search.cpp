#include "runtime/lattice/search.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace fathom::runtime {
namespace {

constexpr std::uint64_t kFar = UINT64_MAX;
constexpr std::uint32_t kNoNode = UINT32_MAX;

// Steps along the axes, each at the least that one costs: never more than the way costs.
class AxisDistance {
 public:
  AxisDistance(const LatticeGraph& graph, std::uint32_t to) : graph_(graph), to_(to) {}
  std::uint64_t operator()(std::uint32_t node) const {
    std::uint64_t steps = 0;
    std::uint32_t target = to_;
    const auto size = static_cast<std::uint32_t>(graph_.size);
    for (unsigned dimension = 0; dimension < graph_.dimensions; ++dimension) {
      const std::uint32_t here = node % size;
      const std::uint32_t there = target % size;
      steps += here > there ? here - there : there - here;
      node /= size;
      target /= size;
    }
    return steps * graph_.least_weight;
  }

 private:
  const LatticeGraph& graph_;
  std::uint32_t to_;
};

struct Reached {
  std::uint64_t estimate;  // of the whole way, or what this end of it costs
  std::uint32_t node;
  bool operator>(const Reached& other) const {
    return std::tie(estimate, node) > std::tie(other.estimate, other.node);
  }
};
using Frontier = std::priority_queue<Reached, std::vector<Reached>, std::greater<>>;

// One end of a search.
struct End {
  explicit End(std::size_t nodes, std::uint32_t start)
      : cost(nodes, kFar), before(nodes, kNoNode), is_done(nodes) {
    cost[start] = 0;
    frontier.push({0, start});
  }
  std::vector<std::uint64_t> cost;
  std::vector<std::uint32_t> before;  // towards the start of this end
  std::vector<bool> is_done;
  Frontier frontier;

  // Leaves out what was reached again more cheaply.
  void drop_done() {
    while (!frontier.empty() && is_done[frontier.top().node]) frontier.pop();
  }
};

std::vector<std::uint32_t> chain(const std::vector<std::uint32_t>& before, std::uint32_t node) {
  std::vector<std::uint32_t> nodes;
  for (; node != kNoNode; node = before[node]) nodes.push_back(node);
  return nodes;
}

}  // namespace

LatticePath path_of_distances(const LatticeGraph& graph, std::span<const std::uint32_t> distances,
                              std::uint32_t from, std::uint32_t to) {
  LatticePath path = {.nodes = {to}, .cost = distances[to]};
  path.visited = static_cast<std::size_t>(std::ranges::count_if(
      distances, [](std::uint32_t distance) { return distance != kNotReached; }));
  for (std::uint32_t node = to; node != from;) {
    const auto neighbours = graph.neighbours(node);
    node = *std::ranges::find_if(neighbours, [&](std::uint32_t next) {
      return distances[next] != kNotReached && distances[next] + 1 == distances[node];
    });
    path.nodes.push_back(node);
  }
  std::ranges::reverse(path.nodes);
  return path;
}

std::optional<LatticePath> a_star(const LatticeGraph& graph, std::uint32_t from, std::uint32_t to) {
  const AxisDistance ahead(graph, to);
  End end(graph.offsets.size() - 1, from);
  std::size_t visited = 0;
  for (end.drop_done(); !end.frontier.empty(); end.drop_done()) {
    const std::uint32_t node = end.frontier.top().node;
    end.frontier.pop();
    end.is_done[node] = true;
    ++visited;
    if (node == to) {
      LatticePath path = {chain(end.before, to), end.cost[to], visited};
      std::ranges::reverse(path.nodes);
      return path;
    }
    for (const std::uint32_t next : graph.neighbours(node)) {
      const std::uint64_t cost = end.cost[node] + graph.weight(next);
      if (cost >= end.cost[next]) continue;
      end.cost[next] = cost;
      end.before[next] = node;
      end.frontier.push({cost + ahead(next), next});
    }
  }
  return std::nullopt;
}

// Dijkstra's search from both ends, the cheaper one first, until no way that is not yet seen can be
// cheaper than the best that both have met on.
std::optional<LatticePath> bidirectional(const LatticeGraph& graph, std::uint32_t from,
                                         std::uint32_t to) {
  const std::size_t nodes = graph.offsets.size() - 1;
  End forward(nodes, from);
  End backward(nodes, to);
  std::uint64_t best = from == to ? 0 : kFar;
  std::uint32_t met = from;
  std::size_t visited = 0;
  while (true) {
    forward.drop_done();
    backward.drop_done();
    if (forward.frontier.empty() || backward.frontier.empty()) break;
    const std::uint64_t left = forward.frontier.top().estimate;
    const std::uint64_t right = backward.frontier.top().estimate;
    if (best != kFar && left + right >= best) break;
    const bool is_forward = left <= right;
    End& own = is_forward ? forward : backward;
    const End& other = is_forward ? backward : forward;
    const std::uint32_t node = own.frontier.top().node;
    own.frontier.pop();
    own.is_done[node] = true;
    ++visited;
    for (const std::uint32_t next : graph.neighbours(node)) {
      // Forwards the next node is entered, backwards it is left and this one is entered.
      const std::uint64_t cost = own.cost[node] + graph.weight(is_forward ? next : node);
      if (cost < own.cost[next]) {
        own.cost[next] = cost;
        own.before[next] = node;
        own.frontier.push({cost, next});
      }
      if (other.cost[next] != kFar && own.cost[next] + other.cost[next] < best) {
        best = own.cost[next] + other.cost[next];
        met = next;
      }
    }
  }
  if (best == kFar) return std::nullopt;
  LatticePath path = {chain(forward.before, met), best, visited};
  std::ranges::reverse(path.nodes);
  const auto rest = chain(backward.before, met);
  path.nodes.insert(path.nodes.end(), rest.begin() + 1, rest.end());
  return path;
}

}  // namespace fathom::runtime
