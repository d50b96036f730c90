// A lattice on Fathom's runtime library: where each operation ran and why, and what it took.
//
//   build/dev/bin/example_lattice                                   on this machine
//   build/dev/bin/example_lattice simulated                         with a GPU that does not exist
//   build/dev/bin/example_lattice models.json                       with those of a file
//   fathom profile -o lattice.pftrace -- build/dev/bin/example_lattice   to see it explained
#include <fathom/batch.h>
#include <fathom/compute.h>
#include <fathom/fathom.h>
#include <fathom/lattice.h>
#include <fathom/memory_monitor.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

namespace {

// A GPU as in a desktop computer, but for its name.
const fathom::DeviceModel kSimulated = {.name = "simulated",
                                        .launch_ns = 8'000,
                                        .link_latency_ns = 8'000,
                                        .link_bytes_per_second = 12e9,
                                        .flops_per_second = 10e12,
                                        .memory_bytes_per_second = 4e11,
                                        .memory_bytes = 8ull << 30};

void show(const fathom::Router& router, fathom::Operation operation, double size) {
  const fathom::Route route = router.route(operation, size);
  std::printf("  %-12s %9.0f  %s\n", std::string(fathom::name_of(operation)).c_str(), size,
              router.reason(route).c_str());
}

void explore(fathom::Compute& compute) {
  fathom::Lattice lattice(compute, {.dimensions = 3, .size = 24});
  const auto structure = lattice.analyze_structure();
  std::printf("3-dimensional lattice: %zu nodes, %zu edges, diameter at least %zu\n",
              structure.nodes, structure.edges, structure.diameter_at_least);
  const std::uint32_t last = lattice.nodes() - 1;
  for (const auto search : {fathom::PathSearch::breadth_first, fathom::PathSearch::a_star,
                            fathom::PathSearch::bidirectional}) {
    const auto path = lattice.find_shortest_path(0, last, search);
    std::printf("  corner to corner: %zu nodes, %zu looked at\n", path->nodes.size(),
                path->visited);
  }
  std::vector<std::uint32_t> lent(1000, 7);
  lattice.xor_transform(42, lent);
  lattice.xor_transform(42, lent);
  std::printf("  transformed twice: %s, and memory that was lent came back %s\n",
              lattice.state()[0] == 0 ? "as it was" : "changed",
              lent == std::vector<std::uint32_t>(1000, 7) ? "as it was" : "changed");
}

// Many lattices: the XORs of all of them as few calls, what needs no calls on all cores.
void explore_many(fathom::Compute& compute) {
  const std::vector<fathom::LatticeOptions> options(20, {.dimensions = 3, .size = 12});
  std::vector<fathom::Lattice> lattices = fathom::build_lattices(compute, options);
  fathom::xor_transform(compute, lattices, 42);
  std::size_t edges = 0;
  for (const auto& structure : fathom::analyze_structures(lattices)) edges += structure.edges;
  std::printf("%zu lattices in batches: %zu edges\n", lattices.size(), edges);
}

void multiply_many(fathom::Compute& compute) {
  const std::vector<float> ones(64 * 64, 1.0f);
  std::vector<std::vector<float>> results(100, std::vector<float>(ones.size()));
  fathom::Batch batch(compute);
  for (std::vector<float>& result : results) {
    batch.matmul({.rows = 64, .inner = 64, .columns = 64}, result, ones, ones);
  }
  const fathom::BatchResult done = batch.run();
  std::printf("%zu products of 64 x 64 in %zu %s\n", done.items, done.calls,
              done.calls == 1 ? "call" : "calls");
  for (const std::size_t edge : {32, 256, 1024}) {
    const std::vector<float> operand(edge * edge, 1.0f);
    std::vector<float> product(operand.size());
    compute.matmul({.rows = edge, .inner = edge, .columns = edge}, product, operand, operand);
  }
}

int run(int argc, char** argv) {
  std::vector<fathom::DeviceModel> simulated;
  if (argc > 1 && std::string_view(argv[1]) == "simulated") {
    simulated = {kSimulated};
  } else if (argc > 1) {
    simulated = fathom::read_device_models(argv[1]);
  }
  fathom::Compute compute({.simulated = simulated});
  compute.on_event([](const fathom::ComputeEvent& event) { std::puts(event.what.c_str()); });

  // Under pressure the pools give back what nobody uses: all of them where the host runs out, and
  // that of a device where its own memory does.
  fathom::MemoryMonitor monitor;
  monitor.add(fathom::host_level());
  const auto& devices = compute.router().devices();
  for (fathom::DeviceIndex device = 0; device < devices.size(); ++device) {
    std::optional<std::int64_t> total;
    if (const auto& bytes = devices[device].memory_bytes) total = static_cast<std::int64_t>(*bytes);
    monitor.manage(compute.pool(device), total);
  }
  monitor.start();

  std::puts("Where would it run?");
  show(compute.router(), fathom::Operation::xor_words, 5);
  show(compute.router(), fathom::Operation::matmul, 32);
  show(compute.router(), fathom::Operation::matmul, 1024);
  show(compute.router(), fathom::Operation::graph_search, 60'000);
  explore(compute);
  explore_many(compute);
  multiply_many(compute);

  const fathom::PoolStatistics pool = compute.pool(fathom::kHost).statistics();
  std::printf("pool: %llu allocations, %.0f %% of them reused\n",
              static_cast<unsigned long long>(pool.allocations), 100 * pool.hit_rate());
  std::printf("memory pressure: %s; a gigabyte more would %s\n",
              std::string(fathom::name_of(monitor.pressure())).c_str(),
              monitor.can_allocate(1024) ? "fit" : "not fit");
  fathom::profiler().print_summary();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // a file of models that is not one
    std::fprintf(stderr, "example_lattice: %s\n", error.what());
    return 2;
  }
}
