#include "fathom/memory_monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace fathom {
namespace {

constexpr std::int64_t kMb = 1 << 20;

// 100 MB of which tests say how much is used.
struct Tank {
  std::int64_t used_mb = 0;
  bool is_known = true;
  MemorySource source(const std::string& name = "tank") {
    return {name, [this]() -> std::optional<MemoryLevel> {
              if (!is_known) return std::nullopt;
              return MemoryLevel{used_mb * kMb, 100 * kMb};
            }};
  }
};

TEST(MemoryMonitor, HasFourLevelsThatAreLeftLowerThanTheyAreEntered) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  const auto at = [&](std::int64_t mb) {
    tank.used_mb = mb;
    monitor.look_at(0);
    return name_of(monitor.pressure());
  };
  EXPECT_EQ(at(69), "low");
  EXPECT_EQ(at(70), "moderate");
  EXPECT_EQ(at(66), "moderate");
  EXPECT_EQ(at(85), "high");
  EXPECT_EQ(at(95), "critical");
  EXPECT_EQ(at(91), "critical");
  EXPECT_EQ(at(89), "high");
  EXPECT_EQ(at(79), "moderate");
  EXPECT_EQ(at(64), "low");
}

TEST(MemoryMonitor, SaysWhenTheLevelChangesAndOnlyThen) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  std::vector<PressureEvent> events;
  monitor.on_pressure([&](const PressureEvent& event) { events.push_back(event); });
  for (const std::int64_t mb : {10, 75, 74, 76, 20}) {
    tank.used_mb = mb;
    monitor.look_at(0);
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].now, Pressure::moderate);
  EXPECT_EQ(events[0].level.used_bytes, 75 * kMb);
  EXPECT_EQ(events[1].before, Pressure::moderate);
  EXPECT_EQ(events[1].now, Pressure::low);
}

TEST(MemoryMonitor, CleansUpByPriorityFrom85PercentOnUntilItIsEnough) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  std::string called;
  const auto frees = [&](char name, std::int64_t mb) {
    return [&called, &tank, name, mb](std::size_t) {
      called += name;
      tank.used_mb -= mb;
      return static_cast<std::size_t>(mb * kMb);
    };
  };
  monitor.on_clean_up(2, frees('b', 20));
  monitor.on_clean_up(3, frees('c', 20));
  monitor.on_clean_up(1, frees('a', 1));
  monitor.on_clean_up(0, [&](std::size_t) -> std::size_t {
    called += '!';
    throw std::runtime_error("no");
  });
  tank.used_mb = 84;
  monitor.look_at(0);
  EXPECT_EQ(called, "");
  tank.used_mb = 90;
  monitor.look_at(1);
  EXPECT_EQ(called, "!ab");
  EXPECT_EQ(tank.used_mb, 69);
  EXPECT_EQ(monitor.pressure(), Pressure::moderate);
  EXPECT_EQ(monitor.statistics().clean_ups, 3u);
  EXPECT_EQ(monitor.statistics().freed_bytes, 21u * kMb);
}

TEST(MemoryMonitor, SaysWhetherItFitsAndCleansUpFirst) {
  Tank tank;
  tank.used_mb = 60;
  MemoryMonitor monitor;
  EXPECT_TRUE(monitor.can_allocate(1e6)) << "nothing is known of any memory";
  monitor.add(tank.source());
  EXPECT_TRUE(monitor.can_allocate(34));
  EXPECT_FALSE(monitor.can_allocate(36));
  EXPECT_TRUE(monitor.can_allocate(34, "tank"));
  EXPECT_FALSE(monitor.can_allocate(36, "tank"));
  EXPECT_THROW(monitor.can_allocate(1, "tnak"), std::invalid_argument);
  EXPECT_FALSE(monitor.can_allocate(-1));
  EXPECT_FALSE(monitor.can_allocate(1e300));
  monitor.on_clean_up(0, [&](std::size_t) {
    tank.used_mb = 10;
    return std::size_t{50 * kMb};
  });
  EXPECT_TRUE(monitor.can_allocate(36));
  tank.is_known = false;
  EXPECT_TRUE(monitor.can_allocate(500));
  EXPECT_EQ(monitor.statistics().sources[0].level, std::nullopt);
}

TEST(MemoryMonitor, HasAPoolGiveBackItsOldestSegmentsUnderPressure) {
  MemoryPool pool(host_memory());
  const PoolBlock oldest = pool.allocate(30 * kMb);
  const PoolBlock newer = pool.allocate(40 * kMb);
  const PoolBlock used = pool.allocate(20 * kMb);
  pool.free(oldest);
  pool.free(newer);
  MemoryMonitor monitor;
  monitor.manage(pool, 100 * kMb);
  monitor.look_at(0);  // 90 % are reserved
  EXPECT_EQ(pool.statistics().reserved_bytes, 60u * kMb) << "the least recently used went, no more";
  EXPECT_EQ(monitor.statistics().freed_bytes, 30u * kMb);
  EXPECT_EQ(monitor.pressure(), Pressure::low);
  EXPECT_TRUE(monitor.can_allocate(60)) << "what is free makes room";
  EXPECT_EQ(pool.statistics().reserved_bytes, 20u * kMb);
  EXPECT_FALSE(monitor.can_allocate(80)) << "what is used stays";
  pool.free(used);
}

// Pressure of the machine, which is not a matter of the pool alone.
TEST(MemoryMonitor, APoolHelpsAnotherSource) {
  Tank tank;
  tank.used_mb = 90;
  MemoryPool pool(host_memory());
  pool.free(pool.allocate(20 * kMb));
  MemoryMonitor monitor;
  monitor.add(tank.source());
  monitor.manage(pool);
  monitor.look_at(0);
  EXPECT_EQ(pool.statistics().reserved_bytes, 0u);
  EXPECT_EQ(monitor.statistics().sources.size(), 1u);
}

TEST(MemoryMonitor, RemembersThePeak) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  for (const std::int64_t mb : {10, 50, 20}) {
    tank.used_mb = mb;
    monitor.look_at(0);
  }
  EXPECT_EQ(monitor.statistics().sources[0].peak_bytes, 50 * kMb);
}

TEST(MemoryMonitor, SuspectsALeakWhereTheLowestLevelRisesForFiveMinutes) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  for (int second = 0; second <= 310; ++second) {
    tank.used_mb = 10 + second / 20 + (second % 10 < 5 ? 5 : 0);
    monitor.look_at(second);
    if (second >= 299) continue;
    EXPECT_TRUE(monitor.leaks().empty()) << second;
  }
  ASSERT_EQ(monitor.leaks().size(), 1u);
  EXPECT_EQ(monitor.leaks()[0].source, "tank");
  EXPECT_EQ(monitor.leaks()[0].grown_bytes, 12 * kMb);
}

TEST(MemoryMonitor, SuspectsNothingWhereMemoryComesBack) {
  Tank tank;
  MemoryMonitor monitor;
  monitor.add(tank.source());
  for (int second = 0; second <= 1000; ++second) {
    tank.used_mb = 10 + second % 120 / 2;
    monitor.look_at(second);
    EXPECT_TRUE(monitor.leaks().empty());
  }
}

TEST(MemoryMonitor, LooksByItselfUntilItIsStopped) {
  std::atomic<int> looks = 0;
  MemoryMonitor monitor;
  monitor.add({"counted", [&]() -> std::optional<MemoryLevel> {
                 ++looks;
                 return MemoryLevel{1, 100};
               }});
  monitor.start(std::chrono::milliseconds(1));
  while (looks < 3) std::this_thread::yield();
  monitor.stop();
  const int seen = looks;
  EXPECT_EQ(monitor.statistics().sources[0].looks, static_cast<std::uint64_t>(seen));
}

TEST(MemoryMonitor, KnowsTheHostAndWhateverDevicesThereAre) {
  const auto level = host_level().level();
  ASSERT_TRUE(level);
  EXPECT_GT(level->used_bytes, 0);
  EXPECT_LT(level->used_bytes, level->total_bytes);
  for (const MemorySource& source : device_levels()) EXPECT_FALSE(source.name.empty());
}

}  // namespace
}  // namespace fathom
