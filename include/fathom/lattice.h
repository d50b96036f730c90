#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fathom/compute.h"
#include "fathom/export.h"

// An N-dimensional lattice, on router, pool and batching: the workload that shows them. Link
// fathom::runtime.
//
//   fathom::Compute compute;
//   fathom::Lattice lattice(compute, {.dimensions = 3, .size = 20});
//   const auto path = lattice.find_shortest_path(0, lattice.nodes() - 1);
namespace fathom {

struct LatticeOptions {
  unsigned dimensions = 2;
  std::size_t size = 0;  // nodes along each dimension
  // Nodes without edges: nothing passes them.
  std::vector<std::uint32_t> obstacles = {};
  // What it costs to enter each node, at least 1; empty: 1 everywhere.
  std::vector<std::uint32_t> weights = {};
};

enum class PathSearch : std::uint8_t {
  breadth_first,  // fewest edges; refuses weights
  a_star,         // by the distance along the axes
  bidirectional,  // from both ends
};

struct LatticePath {
  std::vector<std::uint32_t> nodes;  // from and to included
  std::uint64_t cost = 0;            // of entering all of them but the first
  std::size_t visited = 0;           // nodes that the search looked at
};

struct LatticeStructure {
  std::size_t nodes = 0;  // obstacles included, here only
  std::size_t obstacles = 0;
  std::size_t edges = 0;  // each once
  std::size_t components = 0;
  std::size_t largest_component = 0;  // nodes
  std::size_t least_degree = 0;
  std::size_t most_degree = 0;
  double mean_degree = 0;
  std::size_t diameter_at_least = 0;  // edges, in the largest component: two sweeps
};

// Neighbours are one step apart along one dimension. Sizes that do not fit, nodes that do not exist
// and weights of 0 throw std::runtime_error. The Compute outlives it. Reading from many threads is
// fine; transforming is for one at a time.
class FATHOM_API Lattice {
 public:
  Lattice(Compute& compute, const LatticeOptions& options);  // builds it
  ~Lattice();
  Lattice(Lattice&& other) noexcept;
  Lattice& operator=(Lattice&& other) noexcept;

  std::uint32_t nodes() const;
  std::size_t size() const;
  unsigned dimensions() const;
  std::uint32_t node_at(std::span<const std::size_t> coordinates) const;
  std::vector<std::size_t> coordinates(std::uint32_t node) const;
  bool is_obstacle(std::uint32_t node) const;
  // Compressed rows: nodes + 1 offsets into targets.
  std::span<const std::uint32_t> offsets() const;
  std::span<const std::uint32_t> targets() const;

  // Nothing where no path leads there.
  std::optional<LatticePath> find_shortest_path(
      std::uint32_t from, std::uint32_t to, PathSearch search = PathSearch::breadth_first) const;
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  // The same for many, on all cores.
  std::vector<std::optional<LatticePath>> find_shortest_paths(
      std::span<const Ends> ends, PathSearch search = PathSearch::breadth_first) const;

  // A word per node, 0 at first.
  std::span<std::uint32_t> state();
  // state ^= mask(key), a mask that depends on key and node: twice is as if never. `scratch` is
  // borrowed, of any length but 0 and any content, and comes back as it was: it is used without
  // being free (catalytic). It may not overlap the state. Without it, memory of the pool.
  void xor_transform(std::uint64_t key, std::span<std::uint32_t> scratch = {});

  LatticeStructure analyze_structure() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// One lattice per entry, on all cores. What is wrong with one is thrown after all others are built.
FATHOM_API std::vector<Lattice> build_lattices(Compute& compute,
                                               std::span<const LatticeOptions> options);

// Lattice::xor_transform of each, without memory of others: all of them are few calls.
FATHOM_API void xor_transform(Compute& compute, std::span<Lattice> lattices, std::uint64_t key);
// Lattice::analyze_structure of each, on all cores.
FATHOM_API std::vector<LatticeStructure> analyze_structures(std::span<const Lattice> lattices);

}  // namespace fathom
