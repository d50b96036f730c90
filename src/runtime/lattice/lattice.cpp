#include "fathom/lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "fathom/batch.h"
#include "fathom/profiler.h"
#include "runtime/lattice/search.h"

namespace fathom {

struct Lattice::Content {
  Compute& compute;
  runtime::LatticeGraph graph;
  std::vector<bool> is_obstacle;
  std::vector<std::uint32_t> state;

  void expect_node(std::uint32_t node) const {
    if (node < is_obstacle.size()) return;
    throw base::Error("lattice", fmt::format("no node {}: there are {}", node, is_obstacle.size()));
  }
};

namespace {

using runtime::LatticeGraph;

constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostTargets = UINT32_MAX;
constexpr std::size_t kScratchWords = 1 << 16;

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

LatticeGraph graph_of(const LatticeOptions& options, const std::vector<bool>& is_obstacle) {
  const auto nodes = static_cast<std::uint32_t>(is_obstacle.size());
  LatticeGraph graph;
  graph.size = options.size;
  graph.dimensions = options.dimensions;
  graph.weights = options.weights;
  if (!options.weights.empty()) {
    if (options.weights.size() != nodes) {
      throw base::Error("lattice",
                        fmt::format("{} weights for {} nodes", options.weights.size(), nodes));
    }
    graph.least_weight = *std::ranges::min_element(options.weights);
    if (graph.least_weight == 0) throw base::Error("lattice", "a weight of 0", "The least is 1");
  }
  graph.offsets.reserve(nodes + std::size_t{1});
  graph.offsets.push_back(0);
  const auto size = static_cast<std::uint32_t>(options.size);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::uint32_t step = 1;
    std::uint32_t rest = node;
    for (unsigned dimension = 0; dimension < options.dimensions && !is_obstacle[node];
         ++dimension) {
      const std::uint32_t at = rest % size;
      if (at > 0 && !is_obstacle[node - step]) graph.targets.push_back(node - step);
      if (at + 1 < size && !is_obstacle[node + step]) graph.targets.push_back(node + step);
      rest /= size;
      step *= size;
    }
    graph.offsets.push_back(static_cast<std::uint32_t>(graph.targets.size()));
  }
  return graph;
}

// The word of the mask for a node: all bits of key and node in all bits of it (the finish of
// splitmix64).
std::uint32_t mask_of(std::uint64_t key, std::uint64_t node) {
  std::uint64_t bits = key + (node + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(bits ^ (bits >> 31));
}

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

Components components_of(const LatticeGraph& graph, const std::vector<bool>& is_obstacle) {
  Components all;
  std::vector<bool> seen = is_obstacle;
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

Lattice::Lattice(Compute& compute, const LatticeOptions& options) {
  FATHOM_SCOPE("lattice build");
  const std::uint32_t nodes = count_nodes(options);
  std::vector<bool> is_obstacle = marked(options.obstacles, nodes);
  LatticeGraph graph = graph_of(options, is_obstacle);
  content_.reset(new Content{compute, std::move(graph), std::move(is_obstacle),
                             std::vector<std::uint32_t>(nodes)});
}

Lattice::~Lattice() = default;
Lattice::Lattice(Lattice&& other) noexcept = default;
Lattice& Lattice::operator=(Lattice&& other) noexcept = default;

std::uint32_t Lattice::nodes() const {
  return static_cast<std::uint32_t>(content_->is_obstacle.size());
}
std::size_t Lattice::size() const {
  return content_->graph.size;
}
unsigned Lattice::dimensions() const {
  return content_->graph.dimensions;
}
std::span<const std::uint32_t> Lattice::offsets() const {
  return content_->graph.offsets;
}
std::span<const std::uint32_t> Lattice::targets() const {
  return content_->graph.targets;
}
std::span<std::uint32_t> Lattice::state() {
  return content_->state;
}

std::uint32_t Lattice::node_at(std::span<const std::size_t> coordinates) const {
  if (coordinates.size() != dimensions()) {
    throw base::Error("lattice", fmt::format("{} coordinates for {} dimensions", coordinates.size(),
                                             dimensions()));
  }
  std::size_t node = 0;
  for (std::size_t i = coordinates.size(); i-- > 0;) {
    if (coordinates[i] >= size()) {
      throw base::Error("lattice", fmt::format("coordinate {} of {}", coordinates[i], size()));
    }
    node = node * size() + coordinates[i];
  }
  return static_cast<std::uint32_t>(node);
}

std::vector<std::size_t> Lattice::coordinates(std::uint32_t node) const {
  content_->expect_node(node);
  std::vector<std::size_t> all;
  std::size_t rest = node;
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension) {
    all.push_back(rest % size());
    rest /= size();
  }
  return all;
}

bool Lattice::is_obstacle(std::uint32_t node) const {
  content_->expect_node(node);
  return content_->is_obstacle[node];
}

std::optional<LatticePath> Lattice::find_shortest_path(std::uint32_t from, std::uint32_t to,
                                                       PathSearch search) const {
  FATHOM_SCOPE("lattice find_shortest_path");
  content_->expect_node(from);
  content_->expect_node(to);
  const LatticeGraph& graph = content_->graph;
  if (content_->is_obstacle[from] || content_->is_obstacle[to]) return std::nullopt;
  if (search == PathSearch::a_star) return runtime::a_star(graph, from, to);
  if (search == PathSearch::bidirectional) return runtime::bidirectional(graph, from, to);
  if (!graph.weights.empty()) {
    throw base::Error("lattice", "breadth-first search counts edges and ignores weights",
                      "Search with a_star or bidirectional");
  }
  std::vector<std::uint32_t> distances(nodes());
  content_->compute.graph_search(distances, graph.offsets, graph.targets, from);
  if (distances[to] == kNotReached) return std::nullopt;
  return runtime::path_of_distances(graph, distances, from, to);
}

std::vector<std::optional<LatticePath>> Lattice::find_shortest_paths(std::span<const Ends> ends,
                                                                     PathSearch search) const {
  std::vector<std::optional<LatticePath>> paths(ends.size());
  std::vector<std::function<void()>> searches;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    searches.emplace_back(
        [&, i] { paths[i] = find_shortest_path(ends[i].first, ends[i].second, search); });
  }
  const ParallelResult result = execute_parallel(searches);
  for (const auto& error : result.errors) {
    if (error) throw std::runtime_error(*error);
  }
  return paths;
}

void Lattice::xor_transform(std::uint64_t key, std::span<std::uint32_t> scratch) {
  FATHOM_SCOPE("lattice xor_transform");
  Compute& compute = content_->compute;
  MemoryPool& pool = compute.pool(kHost);
  const std::size_t words =
      std::min<std::size_t>(nodes(), scratch.empty() ? kScratchWords : scratch.size());
  const PoolBlock mask_block = pool.allocate(4 * words);
  std::optional<PoolBlock> own_scratch;
  if (scratch.empty()) {
    own_scratch = pool.allocate(4 * words);
    scratch = {own_scratch->as<std::uint32_t>(), words};
    std::ranges::fill(scratch, 0);
  }
  const auto mask = std::span(mask_block.as<std::uint32_t>(), words);
  // state ^ (scratch ^ mask) ^ scratch: what is in the scratch memory cancels out.
  for (std::size_t begin = 0; begin < content_->state.size(); begin += words) {
    const std::size_t count = std::min(words, content_->state.size() - begin);
    const auto part = std::span(content_->state).subspan(begin, count);
    const auto lent = scratch.first(count);
    const auto bits = mask.first(count);
    for (std::size_t i = 0; i < count; ++i) bits[i] = mask_of(key, begin + i);
    compute.xor_words(lent, lent, bits);
    compute.xor_words(part, part, lent);
    compute.xor_words(lent, lent, bits);
    compute.xor_words(part, part, lent);
  }
  pool.free(mask_block);
  if (own_scratch) pool.free(*own_scratch);
}

LatticeStructure Lattice::analyze_structure() const {
  FATHOM_SCOPE("lattice analyze_structure");
  const LatticeGraph& graph = content_->graph;
  LatticeStructure found = {.nodes = nodes(), .edges = graph.targets.size() / 2};
  found.obstacles = static_cast<std::size_t>(std::ranges::count(content_->is_obstacle, true));
  const std::size_t free_nodes = found.nodes - found.obstacles;
  if (free_nodes == 0) return found;
  found.least_degree = SIZE_MAX;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    if (content_->is_obstacle[node]) continue;
    const std::size_t degree = graph.neighbours(node).size();
    found.least_degree = std::min(found.least_degree, degree);
    found.most_degree = std::max(found.most_degree, degree);
  }
  found.mean_degree = static_cast<double>(graph.targets.size()) / static_cast<double>(free_nodes);
  const Components components = components_of(graph, content_->is_obstacle);
  found.components = components.count;
  found.largest_component = components.largest;
  std::vector<std::uint32_t> distances(nodes());
  std::uint32_t start = components.node_of_largest;
  for (int sweep = 0; sweep < 2; ++sweep) {
    content_->compute.graph_search(distances, graph.offsets, graph.targets, start);
    start = farthest(distances);
  }
  found.diameter_at_least = distances[start];
  return found;
}

std::vector<Lattice> build_lattices(Compute& compute, std::span<const LatticeOptions> options) {
  std::vector<std::optional<Lattice>> built(options.size());
  std::vector<std::function<void()>> builders;
  for (std::size_t i = 0; i < options.size(); ++i) {
    builders.emplace_back([&, i] { built[i].emplace(compute, options[i]); });
  }
  const ParallelResult result = execute_parallel(builders);
  for (const auto& error : result.errors) {
    if (error) throw std::runtime_error(*error);
  }
  std::vector<Lattice> lattices;
  for (auto& lattice : built) lattices.push_back(std::move(*lattice));
  return lattices;
}

}  // namespace fathom
