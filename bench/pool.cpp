// What allocating and freeing costs with the pool, against malloc and against one free list per
// size, which is the least that a cache of blocks can do. Then the allocations of a real training
// run of PyTorch, replayed: how often memory was used again, and how much was reserved, against
// what PyTorch itself reserved.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <unordered_map>
#include <vector>

#include "fathom/memory_pool.h"
#include "trace/read.h"

namespace {

using fathom::MemoryPool;
using fathom::PoolBlock;

constexpr int kRounds = 11;
constexpr std::size_t kAlive = 64;

// Allocates and frees in the same random order for everyone: 64 blocks alive, sizes as given.
template <typename Allocate, typename Free>
double ns_per_pair(const std::vector<std::size_t>& sizes, const Allocate& allocate,
                   const Free& free) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<decltype(allocate(std::size_t{1}))> alive(kAlive);
    std::vector<std::size_t> alive_sizes(kAlive, 0);
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t slot = (i * 37) % kAlive;
      if (alive_sizes[slot] != 0) free(alive[slot], alive_sizes[slot]);
      alive[slot] = allocate(sizes[i]);
      alive_sizes[slot] = sizes[i];
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    for (std::size_t slot = 0; slot < kAlive; ++slot) {
      if (alive_sizes[slot] != 0) free(alive[slot], alive_sizes[slot]);
    }
    rounds.push_back(took.count() / static_cast<double>(sizes.size()));
  }
  return *std::ranges::min_element(rounds);
}

void compare(const char* name, std::size_t least, std::size_t most) {
  std::mt19937 random(1);
  std::vector<std::size_t> kinds;  // a program uses few sizes, often
  for (int i = 0; i < 20; ++i) kinds.push_back(least + random() % (most - least));
  std::vector<std::size_t> sizes(50'000);
  for (std::size_t& size : sizes) size = kinds[random() % kinds.size()];
  MemoryPool pool(fathom::host_memory());
  const double ours = ns_per_pair(
      sizes, [&](std::size_t bytes) { return pool.allocate(bytes); },
      [&](const PoolBlock& block, std::size_t) { pool.free(block); });
  const double system = ns_per_pair(
      sizes, [](std::size_t bytes) { return std::malloc(bytes); },
      [](void* memory, std::size_t) { std::free(memory); });
  std::unordered_map<std::size_t, std::vector<void*>> lists;
  const double floor = ns_per_pair(
      sizes,
      [&](std::size_t bytes) {
        auto& list = lists[bytes];
        if (list.empty()) return std::malloc(bytes);
        void* const memory = list.back();
        list.pop_back();
        return memory;
      },
      [&](void* memory, std::size_t bytes) { lists[bytes].push_back(memory); });
  for (auto& [bytes, list] : lists) {
    for (void* const memory : list) std::free(memory);
  }
  fmt::print(
      "pool {}: {:.0f} ns per allocation and free, floor (free list per size, one thread) "
      "{:.0f} ns, malloc {:.0f} ns; hit rate {:.1f} %\n",
      name, ours, floor, system, 100 * pool.statistics().hit_rate());
}

// Segments without memory behind them: only the bookkeeping is replayed.
fathom::MemoryOrigin no_memory() {
  return {.name = "replay",
          .allocate =
              [next = std::uintptr_t{1} << 30](std::size_t bytes) mutable {
                void* const segment = reinterpret_cast<void*>(next);
                next += bytes;
                return segment;
              },
          .release = [](void*) {},
          .profiler_device = std::nullopt};
}

void replay(const std::string& path) {
  const fathom::trace::Trace trace = fathom::trace::read_trace(path);
  MemoryPool pool(no_memory());
  std::unordered_map<std::uint64_t, PoolBlock> alive;
  std::int64_t theirs = 0;
  // What was allocated before the recording, and is freed in it or there at its end: block by
  // block, as they lie in PyTorch's segments.
  std::vector<fathom::trace::OlderBlock> older = trace.allocator.older;
  std::ranges::sort(older, {}, &fathom::trace::OlderBlock::address);
  for (const auto& block : older) {
    alive[block.address] = pool.allocate(static_cast<std::size_t>(block.bytes));
  }
  const fathom::PoolStatistics before = pool.statistics();
  const auto begin = std::chrono::steady_clock::now();
  for (const fathom::trace::MemoryEvent& event : trace.memory) {
    if (!event.address) continue;
    theirs = std::max(theirs, event.total_reserved.value_or(0));
    const auto known = alive.find(*event.address);
    if (known != alive.end()) {
      pool.free(known->second);
      alive.erase(known);
    }
    if (event.bytes > 0) {
      alive[*event.address] = pool.allocate(static_cast<std::size_t>(event.bytes));
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const fathom::PoolStatistics now = pool.statistics();
  fmt::print(
      "pool replay {}: {} allocations, {:.1f} % reused (at least 95 %), peak reserved {:.1f} MB, "
      "PyTorch {:.1f} MB, ratio {:.3f} (at most 1), {:.0f} ns per event\n",
      std::filesystem::path(path).filename().string(), now.allocations - before.allocations,
      100 * static_cast<double>(now.reused - before.reused) /
          static_cast<double>(now.allocations - before.allocations),
      static_cast<double>(now.peak_reserved_bytes) / (1 << 20),
      static_cast<double>(theirs) / (1 << 20),
      static_cast<double>(now.peak_reserved_bytes) / static_cast<double>(theirs),
      1e9 * seconds / static_cast<double>(trace.memory.size()));
}

}  // namespace

int main() {
  compare("small blocks (512 B to 16 KB)", 512, 16 << 10);
  compare("middle blocks (16 KB to 1 MB)", 16 << 10, 1 << 20);
  compare("large blocks (1 to 64 MB)", 1 << 20, 64 << 20);
  const std::string folder = FATHOM_SOURCE_DIR "/../shared/corpus/snapshots";
  if (!std::filesystem::exists(folder)) {
    fmt::print("pool replay: no snapshots here\n");
    return 0;
  }
  for (const auto& file : std::filesystem::directory_iterator(folder)) replay(file.path());
}
