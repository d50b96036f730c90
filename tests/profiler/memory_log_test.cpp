#include "profiler/memory_log.h"

#include <gtest/gtest.h>

#include <random>

namespace fathom::detail::memory_log_test {

using Owned = std::map<MemoryOwner, std::int64_t>;

Owned bytes_of(const MemoryLog::Owned& owned) {
  Owned bytes;
  for (const auto& [owner, memory] : owned) bytes[owner] = memory.bytes;
  return bytes;
}

TEST(MemoryLog, AgreesWithABruteForceOnRandomRecords) {
  std::mt19937 random(3);
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  for (int round = 0; round < 500; ++round) {
    MemoryLog log;
    std::map<std::pair<std::int32_t, std::uint64_t>, std::pair<MemoryOwner, std::int64_t>> blocks;
    std::int64_t peak = 0;
    Owned at_peak;
    Owned alive;
    for (std::int64_t i = 0; i < 40; ++i) {
      MemoryRecord record;
      record.time_ns = i;
      record.device = static_cast<std::int32_t>(pick(0, 1));
      record.address = static_cast<std::uint64_t>(pick(1, 5));
      record.bytes = pick(0, 1) == 0 ? pick(1, 9) : -pick(1, 9);
      const auto operation = static_cast<OperationId>(pick(1, 3));
      log.add(record, operation, {});
      const std::pair key{record.device, *record.address};
      blocks.erase(key);
      if (record.bytes > 0) blocks[key] = {{operation, 0, 0}, record.bytes};
      alive.clear();
      std::int64_t level = 0;
      for (const auto& [address, block] : blocks) {
        alive[block.first] += block.second;
        level += block.second;
      }
      if (level > peak) {
        peak = level;
        at_peak = alive;
      }
      ASSERT_EQ(log.allocated(), level);
      ASSERT_EQ(bytes_of(log.alive()), alive);
      ASSERT_EQ(log.peak().allocated, peak);
      if (peak > 0) {
        ASSERT_EQ(bytes_of(log.at_peak()), at_peak);
      }
    }
  }
}

TEST(MemoryLog, TheTimelineIsBoundedAndKeepsThePeak) {
  MemoryLog log;
  for (std::uint64_t i = 0; i < 2 * MemoryLog::kMostPoints; ++i) {
    MemoryRecord record;
    record.time_ns = static_cast<std::int64_t>(i);
    record.address = 1;
    record.bytes = i % 2 == 1 ? -5 : i == 100'000 ? 700 : 5;
    log.add(record, 0, {});
  }
  EXPECT_LE(log.timeline().size(), MemoryLog::kMostPoints);
  std::int64_t highest = 0;
  for (const MemoryPoint& point : log.timeline()) highest = std::max(highest, point.allocated);
  EXPECT_EQ(highest, 700);
}

}  // namespace fathom::detail::memory_log_test
