#include "fathom/lattice.h"

#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <random>

#include "runtime/test_compute.h"

namespace fathom::runtime {
namespace {

Compute& host_compute() {
  static Compute compute({.uses_opencl = false, .uses_machine_profile = false});
  return compute;
}

// The same lattice made by the definition: neighbours differ by one in one coordinate.
using Oracle = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                     boost::property<boost::edge_weight_t, std::uint64_t>>;

Oracle oracle_of(const Lattice& lattice, const LatticeOptions& options) {
  Oracle graph(lattice.nodes());
  std::vector<std::vector<std::size_t>> coordinates;
  for (std::uint32_t node = 0; node < lattice.nodes(); ++node) {
    coordinates.push_back(lattice.coordinates(node));
  }
  for (std::uint32_t a = 0; a < lattice.nodes(); ++a) {
    for (std::uint32_t b = 0; b < lattice.nodes(); ++b) {
      if (lattice.is_obstacle(a) || lattice.is_obstacle(b)) continue;
      const auto& at = coordinates[a];
      const auto& to = coordinates[b];
      std::size_t apart = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        apart += at[i] > to[i] ? at[i] - to[i] : to[i] - at[i];
      }
      const std::uint64_t weight = options.weights.empty() ? 1 : options.weights[b];
      if (apart == 1) boost::add_edge(a, b, weight, graph);
    }
  }
  return graph;
}

std::vector<std::uint64_t> costs_from(const Oracle& graph, std::uint32_t from) {
  std::vector<std::uint64_t> costs(boost::num_vertices(graph));
  boost::dijkstra_shortest_paths(graph, from, boost::distance_map(costs.data()));
  return costs;
}

LatticeOptions random_options(std::mt19937& random, bool has_weights) {
  LatticeOptions options;
  options.dimensions = static_cast<unsigned>(1 + random() % 4);
  options.size = options.dimensions > 2 ? 2 + random() % 3 : 2 + random() % 9;
  std::size_t nodes = 1;
  for (unsigned i = 0; i < options.dimensions; ++i) nodes *= options.size;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (random() % 4 == 0) options.obstacles.push_back(node);
    if (has_weights) options.weights.push_back(static_cast<std::uint32_t>(1 + random() % 9));
  }
  return options;
}

void expect_is_path(const Lattice& lattice, const LatticeOptions& options, const LatticePath& path,
                    std::uint32_t from, std::uint32_t to) {
  ASSERT_EQ(path.nodes.front(), from);
  ASSERT_EQ(path.nodes.back(), to);
  std::uint64_t cost = 0;
  for (std::size_t i = 1; i < path.nodes.size(); ++i) {
    const std::uint32_t node = path.nodes[i - 1];
    const auto neighbours = lattice.targets().subspan(
        lattice.offsets()[node], lattice.offsets()[node + 1] - lattice.offsets()[node]);
    ASSERT_TRUE(std::ranges::count(neighbours, path.nodes[i]) == 1);
    cost += options.weights.empty() ? 1 : options.weights[path.nodes[i]];
  }
  ASSERT_EQ(cost, path.cost);
}

TEST(Lattice, EverySearchFindsWhatBoostFinds) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    const LatticeOptions options = random_options(random, round % 2 == 1);
    const Lattice lattice(host_compute(), options);
    const Oracle oracle = oracle_of(lattice, options);
    EXPECT_EQ(boost::num_edges(oracle), lattice.targets().size());
    const auto from = static_cast<std::uint32_t>(random() % lattice.nodes());
    if (lattice.is_obstacle(from)) continue;
    const auto costs = costs_from(oracle, from);
    for (const PathSearch search :
         {PathSearch::breadth_first, PathSearch::a_star, PathSearch::bidirectional}) {
      if (search == PathSearch::breadth_first && !options.weights.empty()) continue;
      for (int pick = 0; pick < 5; ++pick) {
        const auto to = static_cast<std::uint32_t>(random() % lattice.nodes());
        const auto path = lattice.find_shortest_path(from, to, search);
        const bool is_reachable = costs[to] != std::numeric_limits<std::uint64_t>::max();
        ASSERT_EQ(path.has_value(), is_reachable);
        if (!path) continue;
        ASSERT_EQ(path->cost, costs[to]);
        expect_is_path(lattice, options, *path, from, to);
      }
    }
  }
}

TEST(Lattice, AStarLooksAtLessThanBreadthFirst) {
  const Lattice lattice(host_compute(), {.dimensions = 2, .size = 50});
  const std::uint32_t from = lattice.node_at(std::vector<std::size_t>{20, 20});
  const std::uint32_t to = lattice.node_at(std::vector<std::size_t>{30, 20});
  const auto all = lattice.find_shortest_path(from, to);
  const auto some = lattice.find_shortest_path(from, to, PathSearch::a_star);
  const auto both = lattice.find_shortest_path(from, to, PathSearch::bidirectional);
  EXPECT_EQ(all->visited, 2500u);
  EXPECT_EQ(some->visited, 11u);
  EXPECT_LT(both->visited, 300u);
  EXPECT_EQ(both->cost, 10u);
}

TEST(Lattice, ManyPathsAreFoundAtOnce) {
  const Lattice lattice(host_compute(), {.dimensions = 3, .size = 6});
  std::vector<Lattice::Ends> ends;
  for (std::uint32_t node = 0; node < lattice.nodes(); node += 7) ends.emplace_back(0, node);
  const auto paths = lattice.find_shortest_paths(ends, PathSearch::bidirectional);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::size_t steps = 0;
    for (const std::size_t at : lattice.coordinates(ends[i].second)) steps += at;
    EXPECT_EQ(paths[i]->cost, steps);
  }
}

TEST(Lattice, ATransformTwiceIsAsIfNeverAndScratchMemoryComesBackAsItWas) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Lattice lattice(host_compute(), {.dimensions = 2, .size = 30});
    for (std::uint32_t& word : lattice.state()) word = static_cast<std::uint32_t>(random());
    const std::vector<std::uint32_t> before(lattice.state().begin(), lattice.state().end());
    std::vector<std::uint32_t> scratch(1 + random() % 2000);
    for (std::uint32_t& word : scratch) word = static_cast<std::uint32_t>(random());
    const auto lent = scratch;
    const std::uint64_t key = random();
    lattice.xor_transform(key, scratch);
    EXPECT_EQ(scratch, lent) << "comes back exactly as lent";
    const std::vector<std::uint32_t> after(lattice.state().begin(), lattice.state().end());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < after.size(); ++i) changed += after[i] != before[i] ? 1 : 0;
    EXPECT_GT(changed, 890u);
    // What was in the scratch memory does not matter.
    lattice.xor_transform(key);
    EXPECT_TRUE(std::ranges::equal(lattice.state(), before));
  }
}

TEST(Lattice, StructureIsThatOfTheGraph) {
  std::mt19937 random(17);
  for (int round = 0; round < 20; ++round) {
    const LatticeOptions options = random_options(random, false);
    const Lattice lattice(host_compute(), options);
    const LatticeStructure found = lattice.analyze_structure();
    const Oracle oracle = oracle_of(lattice, options);
    EXPECT_EQ(found.obstacles, options.obstacles.size());
    EXPECT_EQ(found.edges * 2, boost::num_edges(oracle));
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> both_ways(lattice.nodes());
    for (auto [edge, end] = boost::edges(oracle); edge != end; ++edge) {
      boost::add_edge(boost::source(*edge, oracle), boost::target(*edge, oracle), both_ways);
    }
    std::vector<int> component(lattice.nodes());
    const int components = boost::connected_components(both_ways, component.data());
    EXPECT_EQ(found.components + found.obstacles, static_cast<std::size_t>(components));
  }
  const LatticeStructure cube =
      Lattice(host_compute(), {.dimensions = 3, .size = 4}).analyze_structure();
  EXPECT_EQ(cube.least_degree, 3u);
  EXPECT_EQ(cube.most_degree, 6u);
  EXPECT_EQ(cube.components, 1u);
  EXPECT_EQ(cube.largest_component, 64u);
  EXPECT_EQ(cube.edges, 144u);
  EXPECT_EQ(cube.diameter_at_least, 9u);
}

TEST(Lattice, MayBeAllObstacles) {
  const Lattice lattice(host_compute(), {.dimensions = 1, .size = 2, .obstacles = {0, 1}});
  EXPECT_EQ(lattice.analyze_structure().components, 0u);
  EXPECT_FALSE(lattice.find_shortest_path(0, 1));
}

TEST(Lattice, WhatIsWrongIsOneLine) {
  const auto problem_of = [](const LatticeOptions& options) -> std::string {
    try {
      const Lattice lattice(host_compute(), options);
      lattice.find_shortest_path(0, 3);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(problem_of({.dimensions = 0, .size = 4}),
            "lattice: no node. Dimensions and size are at least 1");
  EXPECT_EQ(problem_of({.dimensions = 9, .size = 1000}),
            "lattice: 1000 to the power of 9 nodes are too many");
  EXPECT_EQ(problem_of({.dimensions = 2, .size = static_cast<std::size_t>(-1)}),
            "lattice: 18446744073709551615 to the power of 2 nodes are too many");
  EXPECT_EQ(problem_of({.dimensions = 1, .size = 4, .obstacles = {4}}),
            "lattice: obstacle at node 4: there are 4");
  EXPECT_EQ(problem_of({.dimensions = 1, .size = 4, .weights = {1, 2}}),
            "lattice: 2 weights for 4 nodes");
  EXPECT_EQ(problem_of({.dimensions = 1, .size = 4, .weights = {1, 2, 0, 1}}),
            "lattice: a weight of 0. The least is 1");
  EXPECT_EQ(problem_of({.dimensions = 1, .size = 3}), "lattice: no node 3: there are 3");
  EXPECT_EQ(problem_of({.dimensions = 1, .size = 4, .weights = {1, 2, 3, 4}}),
            "lattice: breadth-first search counts edges and ignores weights. Search with a_star or "
            "bidirectional");
  EXPECT_EQ(problem_of({.dimensions = 3000, .size = 1}), "lattice: no node 3: there are 1");
}

TEST(Lattice, ABatchIsBuiltAsOneIs) {
  std::vector<LatticeOptions> options;
  for (std::size_t size = 2; size < 30; ++size) options.push_back({.dimensions = 2, .size = size});
  const std::vector<Lattice> lattices = build_lattices(host_compute(), options);
  for (std::size_t i = 0; i < lattices.size(); ++i) {
    const Lattice alone(host_compute(), options[i]);
    EXPECT_TRUE(std::ranges::equal(lattices[i].targets(), alone.targets()));
  }
  options[5].size = 0;
  EXPECT_THROW(build_lattices(host_compute(), options), std::runtime_error);
}

TEST(Lattice, ABatchIsTransformedAndAnalyzedAsEachIs) {
  std::vector<LatticeOptions> options;
  for (std::size_t size = 1; size < 20; ++size) options.push_back({.dimensions = 3, .size = size});
  std::vector<Lattice> lattices = build_lattices(host_compute(), options);
  xor_transform(host_compute(), lattices, 99);
  const std::vector<LatticeStructure> structures = analyze_structures(lattices);
  ASSERT_EQ(structures.size(), options.size());
  for (std::size_t i = 0; i < lattices.size(); ++i) {
    Lattice alone(host_compute(), options[i]);
    alone.xor_transform(99);
    EXPECT_TRUE(std::ranges::equal(lattices[i].state(), alone.state()));
    EXPECT_EQ(structures[i].diameter_at_least, alone.analyze_structure().diameter_at_least);
    EXPECT_EQ(structures[i].edges, alone.analyze_structure().edges);
  }
  xor_transform(host_compute(), {}, 1);
  EXPECT_TRUE(analyze_structures({}).empty());
}

TEST(Lattice, ABatchOnADeviceIsFewCalls) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  machine.compute->router().force(Operation::xor_words, 1);
  std::vector<Lattice> lattices =
      build_lattices(*machine.compute, std::vector<LatticeOptions>(50, {.size = 10}));
  const std::int64_t before = machine.clock->now_ns();
  xor_transform(*machine.compute, lattices, 5);
  EXPECT_LT(machine.clock->now_ns() - before, 50'000) << "one launch, not 200";
}

TEST(Lattice, ScratchMemoryMayNotBeTheStateItself) {
  Lattice lattice(host_compute(), {.dimensions = 2, .size = 10});
  const auto problem_of = [&](std::span<std::uint32_t> scratch) -> std::string {
    try {
      lattice.xor_transform(7, scratch);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string right =
      "lattice: the scratch memory overlaps the lattice's own state. Lend other memory";
  EXPECT_EQ(problem_of(lattice.state()), right);
  EXPECT_EQ(problem_of(lattice.state().subspan(99)), right);
  EXPECT_EQ(std::ranges::count(lattice.state(), 0u), 100) << "nothing happened";
  std::vector<std::uint32_t> own(5);
  EXPECT_EQ(problem_of(own), "none");
}

TEST(Lattice, RunsOnADeviceAsOnTheHost) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  machine.compute->router().force(Operation::graph_search, 1);
  machine.compute->router().force(Operation::xor_words, 1);
  Lattice lattice(*machine.compute, {.dimensions = 2, .size = 20});
  EXPECT_EQ(lattice.find_shortest_path(0, 399)->cost, 38u);
  lattice.xor_transform(1);
  lattice.xor_transform(1);
  EXPECT_EQ(std::ranges::count(lattice.state(), 0u), 400);
  EXPECT_EQ(machine.compute->router().statistics().size(), 1u) << "one search: a warm-up";
}

}  // namespace
}  // namespace fathom::runtime
