#include "fathom/memory_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "fathom/memory.h"

namespace fathom::runtime {
namespace {

constexpr std::size_t kMb = 1 << 20;

// Addresses without memory behind them, so that tests may be large.
struct FakeMemory {
  explicit FakeMemory(std::size_t most = SIZE_MAX) : most_bytes(most) {}
  MemoryOrigin origin() {
    return {.name = "fake",
            .allocate = [this](std::size_t bytes) { return allocate(bytes); },
            .release = [this](void* segment) noexcept { release(segment); },
            .profiler_device = std::nullopt};
  }
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (bytes > most_bytes - reserved) return nullptr;
    reserved += bytes;
    void* const segment = reinterpret_cast<void*>(next);
    next += bytes + kMb;
    segments[segment] = bytes;
    return segment;
  }
  void release(void* segment) noexcept {
    const std::lock_guard lock(mutex);
    reserved -= segments.at(segment);
    segments.erase(segment);
  }

  std::mutex mutex;
  std::size_t most_bytes;
  std::size_t reserved = 0;
  std::uintptr_t next = kMb;
  std::map<void*, std::size_t> segments;
};

TEST(MemoryPool, UsesAgainWhatWasGivenBack) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  const PoolBlock first = pool.allocate(3 * kMb);
  pool.free(first);
  const PoolBlock second = pool.allocate(3 * kMb);
  EXPECT_EQ(second.segment, first.segment);
  EXPECT_EQ(second.offset, first.offset);
  EXPECT_EQ(pool.statistics().reused, 1u);
  EXPECT_EQ(pool.statistics().hit_rate(), 0.5);
  pool.free(second);
}

TEST(MemoryPool, SmallBlocksShareASegmentAndMergeAgain) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  std::vector<PoolBlock> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(pool.allocate(60'000));
  EXPECT_EQ(pool.statistics().segments, 1u);
  EXPECT_EQ(pool.statistics().current_bytes, 32 * 60'416u);
  for (std::size_t i = 0; i < blocks.size(); i += 2) pool.free(blocks[i]);
  EXPECT_GT(pool.statistics().fragmentation(), 0.5);
  for (std::size_t i = 1; i < blocks.size(); i += 2) pool.free(blocks[i]);
  EXPECT_EQ(pool.statistics().fragmentation(), 0);
  EXPECT_EQ(pool.statistics().largest_free_bytes, 2 * kMb);
}

TEST(MemoryPool, AlignsAndCountsExactly) {
  MemoryPool pool(host_memory());
  const PoolBlock none = pool.allocate(0);
  const PoolBlock one = pool.allocate(1);
  EXPECT_EQ(none.bytes, 512u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.as<char>()) % 512, 0u);
  PoolStatistics now = pool.statistics();
  EXPECT_EQ(now.current_bytes, 1024u);
  EXPECT_EQ(now.allocations, 2u);
  EXPECT_EQ(now.reserved_bytes, 2 * kMb);
  pool.free(one);
  pool.free(none);
  now = pool.statistics();
  EXPECT_EQ(now.current_bytes, 0u);
  EXPECT_EQ(now.peak_bytes, 1024u);
  EXPECT_EQ(now.total_bytes, 1024u);
  EXPECT_EQ(now.frees, 2u);
  EXPECT_EQ(pool.trim(), 2 * kMb);
  EXPECT_EQ(pool.statistics().segments, 0u);
}

TEST(MemoryPool, TrimsTheLeastRecentlyUsedFirstAndNothingThatIsUsed) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  const PoolBlock a = pool.allocate(30 * kMb);
  const PoolBlock b = pool.allocate(40 * kMb);
  const PoolBlock c = pool.allocate(50 * kMb);
  pool.free(b);
  pool.free(a);
  EXPECT_EQ(pool.trim(100 * kMb), 30 * kMb);
  EXPECT_EQ(pool.trim(0), 40 * kMb);
  EXPECT_EQ(memory.reserved, 50 * kMb);
  pool.free(c);
}

TEST(MemoryPool, FreeingTwiceIsRefused) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  const PoolBlock block = pool.allocate(100);
  pool.free(block);
  EXPECT_THROW(pool.free(block), std::invalid_argument);
  EXPECT_THROW(pool.free(PoolBlock{}), std::invalid_argument);
  EXPECT_EQ(pool.statistics().current_bytes, 0u);
}

TEST(MemoryPool, AStaleBlockDoesNotFreeWhatSomebodyElseHas) {
  for (const std::size_t bytes : {std::size_t{100}, kMb / 4, 30 * kMb}) {
    FakeMemory memory;
    MemoryPool pool(memory.origin());
    const PoolBlock stale = pool.allocate(bytes);
    pool.free(stale);
    const PoolBlock now = pool.allocate(bytes);
    ASSERT_EQ(now.chunk, stale.chunk);
    EXPECT_THROW(pool.free(stale), std::invalid_argument);
    EXPECT_EQ(pool.statistics().current_bytes, now.bytes);
    EXPECT_EQ(pool.statistics().frees, 1u);
    pool.free(now);
    EXPECT_EQ(pool.statistics().current_bytes, 0u);
  }
}

TEST(MemoryPool, ABlockOfAnotherPoolIsRefused) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  MemoryPool another(memory.origin());
  const PoolBlock block = pool.allocate(100);
  EXPECT_THROW(another.free(block), std::invalid_argument);
  EXPECT_EQ(pool.statistics().current_bytes, 512u);
  EXPECT_EQ(another.statistics().frees, 0u);
  pool.free(block);
}

TEST(MemoryPool, WhatIsKeptForAThreadIsNoFragmentation) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  std::vector<PoolBlock> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(pool.allocate(1024));
  for (const PoolBlock& block : blocks) pool.free(block);
  EXPECT_EQ(pool.statistics().kept_bytes, 8 * 1024u);
  EXPECT_EQ(pool.statistics().free_bytes, 2 * kMb);
  EXPECT_EQ(pool.statistics().fragmentation(), 0);
  pool.trim(2 * kMb);
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  EXPECT_EQ(pool.statistics().largest_free_bytes, 2 * kMb);
}

// What remains could hold small blocks only, and those have segments of their own.
TEST(MemoryPool, ALargeBlockKeepsARestThatNoLargeOneFitsIn) {
  FakeMemory memory;
  MemoryPool pool(memory.origin());
  pool.free(pool.allocate(40 * kMb));
  const PoolBlock whole = pool.allocate(39 * kMb);
  EXPECT_EQ(whole.bytes, 40 * kMb);
  pool.free(whole);
  const PoolBlock part = pool.allocate(38 * kMb);
  EXPECT_EQ(part.bytes, 38 * kMb);
  pool.free(part);
}

TEST(MemoryPool, OutOfMemoryIsOneLineAfterAllWasGivenBack) {
  FakeMemory memory(64 * kMb);
  MemoryPool pool(memory.origin());
  const PoolBlock kept = pool.allocate(24 * kMb);
  pool.free(pool.allocate(30 * kMb));
  const PoolBlock large = pool.allocate(40 * kMb);  // the 30 MiB went back
  EXPECT_EQ(pool.statistics().clean_ups, 1u);
  EXPECT_FALSE(pool.try_allocate(kMb));
  try {
    pool.allocate(8 * kMb);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(),
                 "fake: out of memory: 8 MB asked for; 64 MB in use, 0 B free in pieces of up "
                 "to 0 B. Free something, or use smaller batches");
  }
  pool.free(large);
  pool.free(kept);
  EXPECT_EQ(pool.statistics().current_bytes, 0u);
  EXPECT_NO_THROW(pool.allocate(64 * kMb));
}

TEST(MemoryPool, SizesThatOverflowAreRefused) {
  MemoryPool pool(host_memory());
  EXPECT_FALSE(pool.try_allocate(SIZE_MAX));
  EXPECT_FALSE(pool.try_allocate(SIZE_MAX / 2));
  EXPECT_THROW(pool.allocate(static_cast<std::size_t>(-1)), OutOfMemory);
}

TEST(MemoryPool, AsksOthersToCleanUpBeforeItGivesUp) {
  FakeMemory memory(64 * kMb);
  MemoryPool pool(memory.origin());
  std::vector<PoolBlock> cache = {pool.allocate(20 * kMb), pool.allocate(20 * kMb)};
  pool.on_out_of_memory([&](std::size_t wanted) {
    std::size_t freed = 0;
    while (!cache.empty() && freed < wanted) {
      freed += cache.back().bytes;
      pool.free(cache.back());
      cache.pop_back();
    }
    return freed;
  });
  const PoolBlock large = pool.allocate(40 * kMb);
  EXPECT_EQ(cache.size(), 0u);
  pool.free(large);
}

TEST(MemoryPool, TheMemoryProfilerSeesIt) {
  FakeMemory memory;
  MemoryOrigin origin = memory.origin();
  origin.profiler_device = 0;
  MemoryPool pool(origin);
  MemoryProfiler seen;
  seen.start();
  const PoolBlock kept = pool.allocate(2 * kMb);
  pool.free(pool.allocate(5 * kMb));
  seen.stop();
  EXPECT_EQ(seen.peak().peak_allocated_mb, 7);
  ASSERT_EQ(seen.leaks().size(), 1u);
  double reserved = 0;
  for (const MemorySample& sample : seen.timeline()) {
    reserved = std::max(reserved, sample.reserved_mb.value_or(0));
  }
  EXPECT_EQ(reserved, 20);
  pool.free(kept);
}

TEST(MemoryPool, TheMemoryProfilerSeesWhatIsReservedOfARecordedDevice) {
  for (const bool is_recorded : {false, true}) {
    FakeMemory memory;
    MemoryOrigin origin = memory.origin();
    origin.profiler_device = 0;
    origin.is_recorded = is_recorded;
    MemoryPool pool(origin);
    MemoryProfiler seen;
    seen.start();
    pool.free(pool.allocate(30 * kMb));
    pool.trim();
    seen.stop();
    EXPECT_EQ(seen.peak().peak_allocated_mb, is_recorded ? 0 : 30)
        << "a recorder tells of the segments, and would count them twice";
    std::vector<double> reserved;
    for (const MemorySample& sample : seen.timeline()) {
      if (sample.reserved_mb) reserved.push_back(*sample.reserved_mb);
    }
    ASSERT_FALSE(reserved.empty());
    EXPECT_EQ(*std::ranges::max_element(reserved), 30);
    EXPECT_EQ(reserved.back(), 0) << "what trim() gave back";
  }
}

// Against a model: a map of what is used.
struct Model {
  std::map<std::pair<void*, std::size_t>, std::size_t> used;  // (segment, offset) → bytes
  std::size_t current = 0;
  std::size_t peak = 0;

  void add(const PoolBlock& block) {
    const auto [at, is_new] = used.emplace(std::pair(block.segment, block.offset), block.bytes);
    ASSERT_TRUE(is_new);
    if (at != used.begin()) {
      const auto before = std::prev(at);
      if (before->first.first == block.segment) {
        ASSERT_LE(before->first.second + before->second, block.offset);
      }
    }
    const auto after = std::next(at);
    if (after != used.end() && after->first.first == block.segment) {
      ASSERT_LE(block.offset + block.bytes, after->first.second);
    }
    current += block.bytes;
    peak = std::max(peak, current);
  }
  void remove(const PoolBlock& block) {
    ASSERT_EQ(used.erase({block.segment, block.offset}), 1u);
    current -= block.bytes;
  }
};

std::size_t random_size(std::mt19937& random) {
  const auto octave = random() % 26;
  return random() % (std::size_t{1} << octave) + 1;
}

TEST(MemoryPoolFuzz, OneThreadIsExactlyTheModel) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    FakeMemory memory(512 * kMb);
    MemoryPool pool(memory.origin());
    Model model;
    std::vector<PoolBlock> blocks;
    std::uint64_t allocated = 0;
    for (int step = 0; step < 800; ++step) {
      if (random() % 100 == 0) pool.trim(random() % (100 * kMb));
      if (!blocks.empty() && random() % 5 < 2) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        model.remove(blocks.back());
        pool.free(blocks.back());
        blocks.pop_back();
      } else {
        const std::size_t bytes = random_size(random);
        const auto block = pool.try_allocate(bytes);
        if (!block) continue;
        ASSERT_GE(block->bytes, bytes);
        ASSERT_LE(block->offset + block->bytes, memory.segments.at(block->segment));
        model.add(*block);
        blocks.push_back(*block);
        ++allocated;
      }
      const PoolStatistics now = pool.statistics();
      ASSERT_EQ(now.current_bytes, model.current);
      ASSERT_EQ(now.peak_bytes, model.peak);
      ASSERT_EQ(now.allocations, allocated);
      ASSERT_EQ(now.reserved_bytes, memory.reserved);
      ASSERT_EQ(now.free_bytes, memory.reserved - model.current);
    }
    for (const PoolBlock& block : blocks) pool.free(block);
    pool.trim();
    EXPECT_EQ(memory.reserved, 0u) << "nothing is lost";
  }
}

TEST(MemoryPoolFuzz, BlocksOfManyThreadsAreTheirsAloneAndMayBeFreedOnOthers) {
  MemoryPool pool(host_memory());
  std::mutex mutex;
  Model model;  // under the lock, as are the blocks
  std::vector<std::pair<PoolBlock, unsigned char>> shared;
  std::uint64_t allocated = 0;
  std::uint64_t bytes_ever = 0;
  const auto is_filled_with = [](const PoolBlock& block, unsigned char mark) {
    const auto* const bytes = block.as<unsigned char>();
    return bytes[0] == mark && bytes[block.bytes / 2] == mark && bytes[block.bytes - 1] == mark;
  };
  const auto work = [&](unsigned thread) {
    std::mt19937 random(thread);
    for (int step = 0; step < 1500; ++step) {
      if (random() % 2 == 0) {
        const PoolBlock block = pool.allocate(random_size(random) % 100'000);
        const auto mark = static_cast<unsigned char>(random());
        std::memset(block.as<char>(), mark, block.bytes);
        const std::lock_guard lock(mutex);
        ASSERT_NO_FATAL_FAILURE(model.add(block));
        ++allocated;
        bytes_ever += block.bytes;
        shared.emplace_back(block, mark);
      } else {
        std::unique_lock lock(mutex);
        if (shared.empty()) continue;
        std::swap(shared[random() % shared.size()], shared.back());
        const auto [block, mark] = shared.back();
        shared.pop_back();
        ASSERT_NO_FATAL_FAILURE(model.remove(block));
        lock.unlock();
        ASSERT_TRUE(is_filled_with(block, mark));
        pool.free(block);
        ASSERT_THROW(pool.free(block), std::invalid_argument);
      }
      if (random() % 500 == 0) pool.trim();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  threads.clear();
  for (const auto& [block, mark] : shared) EXPECT_TRUE(is_filled_with(block, mark));
  const PoolStatistics now = pool.statistics();
  EXPECT_EQ(now.current_bytes, model.current);
  EXPECT_GE(now.peak_bytes, model.peak);  // the model hears of a block later, and of its end sooner
  EXPECT_EQ(now.allocations, allocated);
  EXPECT_EQ(now.total_bytes, bytes_ever);
  EXPECT_EQ(now.frees, allocated - shared.size());
  for (const auto& [block, mark] : shared) {
    model.remove(block);
    pool.free(block);
  }
  EXPECT_EQ(model.current, 0u);
  pool.trim();
  EXPECT_EQ(pool.statistics().reserved_bytes, 0u);
}

}  // namespace
}  // namespace fathom::runtime
