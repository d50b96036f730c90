// Many small operations in a batch, against the same one by one.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "fathom/batch.h"
#include "fathom/compute.h"
#include "fathom/lattice.h"

namespace {

using namespace fathom;

double wall_ms(int rounds, const std::function<void()>& work) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

// Wall time, processor time and how often a thread had to wait.
struct Cost {
  void take(const std::function<void()>& work) {
    const rusage before = used();
    best_ms = std::min(best_ms, wall_ms(1, work));
    const rusage after = used();
    least_cpu_ms = std::min(least_cpu_ms, cpu_ms(after) - cpu_ms(before));
    waits += after.ru_nvcsw - before.ru_nvcsw;
  }
  static rusage used() {
    rusage now = {};
    getrusage(RUSAGE_SELF, &now);
    return now;
  }
  static double cpu_ms(const rusage& of) {
    const auto ms = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return ms(of.ru_utime) + ms(of.ru_stime);
  }

  double best_ms = 1e300;
  double least_cpu_ms = 1e300;
  long waits = 0;
};

void print(const char* what, double together, double alone) {
  fmt::print("batch {}: {:.3f} ms, one by one {:.3f} ms, {:.2f} times as fast\n", what, together,
             alone, alone / together);
}

void products(Compute& compute, const char* name, std::size_t count, std::size_t edge) {
  const MatmulShape shape = {.rows = edge, .inner = edge, .columns = edge};
  const std::vector<float> a(edge * edge, 1.0f);
  std::vector<std::vector<float>> out(count, std::vector<float>(a.size()));
  const auto alone = [&] {
    for (auto& result : out) compute.matmul(shape, result, a, a);
  };
  const auto together = [&] {
    Batch batch(compute);
    for (auto& result : out) batch.matmul(shape, result, a, a);
    batch.run();
  };
  alone();
  print(name, wall_ms(15, together), wall_ms(15, alone));
}

void xors(Compute& compute, const char* name, int rounds) {
  constexpr std::size_t kItems = 1000;
  constexpr std::size_t kWords = 5;
  std::vector<std::uint32_t> a(kItems * kWords, 3);
  std::vector<std::uint32_t> out(a.size());
  const auto part = [&](std::vector<std::uint32_t>& all, std::size_t i) {
    return std::span(all).subspan(i * kWords, kWords);
  };
  const auto alone = [&] {
    for (std::size_t i = 0; i < kItems; ++i)
      compute.xor_words(part(out, i), part(a, i), part(a, i));
  };
  const auto together = [&] {
    Batch batch(compute);
    for (std::size_t i = 0; i < kItems; ++i) batch.xor_words(part(out, i), part(a, i), part(a, i));
    batch.run();
  };
  print(name, wall_ms(rounds, together), wall_ms(rounds, alone));
}

void lattices(Compute& compute) {
  std::vector<LatticeOptions> options(100, {.dimensions = 3, .size = 20});
  const auto pipeline = [&](const LatticeOptions& own) {
    Lattice lattice(compute, own);
    lattice.xor_transform(1);
    lattice.find_shortest_path(0, lattice.nodes() - 1);
    lattice.analyze_structure();
  };
  const auto alone = [&] {
    for (const LatticeOptions& own : options) pipeline(own);
  };
  const auto together = [&] {
    std::vector<std::function<void()>> work;
    for (const LatticeOptions& own : options) work.emplace_back([&] { pipeline(own); });
    execute_parallel(work);
  };
  Cost parallel;
  Cost serial;
  for (int round = 0; round < 9; ++round) {  // in turn, so that what else runs is the same for both
    parallel.take(together);
    serial.take(alone);
  }
  print("100 lattices through build, transform, path and structure", parallel.best_ms,
        serial.best_ms);
  fmt::print("  {:.2f} times the cores (at least 0.8)\n",
             serial.best_ms / parallel.best_ms / std::max(1u, std::thread::hardware_concurrency()));
  // What sharing costs, whoever else is on the cores: work that waits or is done twice.
  fmt::print(
      "  processor time {:.1f} ms in parallel, {:.1f} ms one by one; {:.2f} waits for a lock per "
      "pipeline\n",
      parallel.least_cpu_ms, serial.least_cpu_ms,
      static_cast<double>(parallel.waits) / (9.0 * static_cast<double>(options.size())));
}

// Where the router would run it now.
const std::string& routed_to(Compute& compute, Operation operation, double size) {
  const Router& router = compute.router();
  return router.devices()[router.route(operation, size).device].name;
}

// What routing is worth: the same XOR where the router says, and on the OpenCL device.
void routed(Compute& compute) {
  if (compute.router().devices().size() < 2) return;
  const std::vector<std::uint32_t> a(5, 3);
  std::vector<std::uint32_t> out(5);
  const auto many = [&](int count) {
    for (int i = 0; i < count; ++i) compute.xor_words(out, a, a);
  };
  many(10);
  const double host = wall_ms(15, [&] { many(1000); }) / 1000;
  const std::string& chosen = routed_to(compute, Operation::xor_words, 5);
  compute.router().force(Operation::xor_words, 1);
  many(10);
  const double device = wall_ms(5, [&] { many(100); }) / 100;
  fmt::print(
      "routing XOR of 5: {:.1f} ns where the router says ({}), {:.1f} µs on {}: {:.0f} times as "
      "fast\n",
      host * 1e6, chosen, device * 1e3, compute.router().devices()[1].name, device / host);
  xors(compute, "1,000 XORs of 5 on the OpenCL device", 3);
  compute.router().force(Operation::xor_words, {});

  Lattice lattice(compute, {.dimensions = 2, .size = 100});
  std::vector<std::uint32_t> distances(lattice.nodes());
  const auto search = [&] {
    compute.graph_search(distances, lattice.offsets(), lattice.targets(), 0);
  };
  search();
  const double on_host = wall_ms(15, search);
  const std::string& search_chosen =
      routed_to(compute, Operation::graph_search, static_cast<double>(lattice.targets().size()));
  compute.router().force(Operation::graph_search, 1);
  search();
  const double on_device = wall_ms(5, search);
  compute.router().force(Operation::graph_search, {});
  fmt::print(
      "routing a search of 10,000 nodes: {:.3f} ms where the router says ({}), {:.1f} ms on {}: "
      "{:.0f} times as fast\n",
      on_host, search_chosen, on_device, compute.router().devices()[1].name, on_device / on_host);
}

}  // namespace

int main() {
  Compute compute({.uses_machine_profile = false});
  products(compute, "10 products of 256 x 256", 10, 256);
  products(compute, "2,000 products of 16 x 16", 2000, 16);
  xors(compute, "1,000 XORs of 5", 15);
  lattices(compute);
  routed(compute);
}
