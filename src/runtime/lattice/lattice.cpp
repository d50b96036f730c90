#include "fathom/lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "fathom/batch.h"
#include "fathom/profiler.h"
#include "runtime/lattice/search.h"
#include "runtime/lattice/structure.h"
#include "runtime/memory/pool_blocks.h"

namespace fathom {

struct Lattice::Content {
  Compute& compute;
  runtime::LatticeGraph graph;
  std::vector<std::uint32_t> state;

  void expect_node(std::uint32_t node) const {
    if (node < graph.nodes()) return;
    throw base::Error("lattice", fmt::format("no node {}: there are {}", node, graph.nodes()));
  }
};

namespace {

using runtime::LatticeGraph;

constexpr std::size_t kScratchWords = 1 << 16;
constexpr std::size_t kMaskWords = 1 << 22;  // of all lattices of one batch

// The word of the mask for a node: all bits of key and node in all bits of it (the finish of
// splitmix64).
std::uint32_t mask_of(std::uint64_t key, std::uint64_t node) {
  std::uint64_t bits = key + (node + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(bits ^ (bits >> 31));
}

}  // namespace

Lattice::Lattice(Compute& compute, const LatticeOptions& options) {
  FATHOM_SCOPE("lattice build");
  content_.reset(new Content{compute, runtime::build_graph(options), {}});
  content_->state.resize(nodes());
}

Lattice::~Lattice() = default;
Lattice::Lattice(Lattice&& other) noexcept = default;
Lattice& Lattice::operator=(Lattice&& other) noexcept = default;

std::uint32_t Lattice::nodes() const {
  return content_->graph.nodes();
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
  return content_->graph.is_obstacle[node];
}

std::optional<LatticePath> Lattice::find_shortest_path(std::uint32_t from, std::uint32_t to,
                                                       PathSearch search) const {
  FATHOM_SCOPE("lattice find_shortest_path");
  content_->expect_node(from);
  content_->expect_node(to);
  const LatticeGraph& graph = content_->graph;
  if (content_->graph.is_obstacle[from] || content_->graph.is_obstacle[to]) return std::nullopt;
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
  const std::less<const std::uint32_t*> is_before;
  const std::span<const std::uint32_t> own = content_->state;
  if (is_before(scratch.data(), own.data() + own.size()) &&
      is_before(own.data(), scratch.data() + scratch.size())) {
    throw base::Error("lattice", "the scratch memory overlaps the lattice's own state",
                      "Lend other memory");
  }
  const std::size_t words =
      std::min<std::size_t>(nodes(), scratch.empty() ? kScratchWords : scratch.size());
  runtime::PoolBlocks blocks(compute.pool(kHost));
  const auto mask = blocks.add_array<std::uint32_t>(words);
  if (scratch.empty()) {
    scratch = blocks.add_array<std::uint32_t>(words);
    std::ranges::fill(scratch, 0);
  }
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
}

LatticeStructure Lattice::analyze_structure() const {
  FATHOM_SCOPE("lattice analyze_structure");
  return runtime::structure_of(content_->graph, content_->compute);
}

void xor_transform(Compute& compute, std::span<Lattice> lattices, std::uint64_t key) {
  FATHOM_SCOPE("lattices xor_transform");
  runtime::PoolBlocks blocks(compute.pool(kHost));
  std::span<std::uint32_t> mask = blocks.add_array<std::uint32_t>(kMaskWords);
  std::span<std::uint32_t> left = mask;
  Batch batch(compute);
  const auto run = [&] {
    const BatchResult result = batch.run();
    if (!result.failures.empty()) throw std::runtime_error(result.failures[0].what);
    left = mask;
  };
  for (Lattice& lattice : lattices) {
    const auto state = lattice.state();
    for (std::size_t begin = 0; begin < state.size();) {
      const std::size_t count = std::min(state.size() - begin, left.size());
      const auto bits = left.first(count);
      for (std::size_t i = 0; i < count; ++i) bits[i] = mask_of(key, begin + i);
      const auto part = state.subspan(begin, count);
      batch.xor_words(part, part, bits);
      begin += count;
      left = left.subspan(count);
      if (left.empty()) run();
    }
  }
  if (batch.size() > 0) run();
}

std::vector<LatticeStructure> analyze_structures(std::span<const Lattice> lattices) {
  std::vector<LatticeStructure> found(lattices.size());
  std::vector<std::function<void()>> work;
  for (std::size_t i = 0; i < lattices.size(); ++i) {
    work.emplace_back([&, i] { found[i] = lattices[i].analyze_structure(); });
  }
  const ParallelResult result = execute_parallel(work);
  for (const auto& error : result.errors) {
    if (error) throw std::runtime_error(*error);
  }
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
