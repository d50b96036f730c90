#include "analyze/memory/memory.h"

#include <gtest/gtest.h>

#include <map>

#include "random_trace.h"

namespace fathom::analyze::memory_test {

using trace::MemoryDevice;
using trace::MemoryEvent;
using trace::SpanKind;
using trace::Trace;
using trace::TracePart;

MemoryEvent event(std::int64_t time, std::int64_t bytes, std::optional<std::uint64_t> address,
                  trace::TrackId track = 0) {
  MemoryEvent row;
  row.time_ns = time;
  row.bytes = bytes;
  row.address = address;
  row.track = track;
  row.device = MemoryDevice::gpu;
  row.device_index = 0;
  return row;
}

TracePart on_a_thread() {
  TracePart part;
  part.track(trace::TrackKind::thread, 1, 1);
  return part;
}

Trace assembled(TracePart part) {
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

Trace trace_of(std::initializer_list<MemoryEvent> events) {
  TracePart part = on_a_thread();
  part.memory = events;
  return assembled(std::move(part));
}

std::vector<std::int64_t> levels_of(const DeviceMemory& device) {
  std::vector<std::int64_t> levels;
  for (const MemoryLevel& level : device.levels) levels.push_back(level.allocated);
  return levels;
}

using Levels = std::vector<std::int64_t>;

void add_span(TracePart& part, std::string_view name, SpanKind kind, std::int64_t start,
              std::int64_t end, trace::TrackId track = 0) {
  trace::SpanRow row;
  row.name = part.names.intern(name);
  row.kind = kind;
  row.track = track;
  row.start_ns = start;
  row.duration_ns = end - start;
  part.spans.push_back(row);
}

TEST(Memory, WithoutEventsThereAreNoDevices) {
  EXPECT_TRUE(memory(trace_of({})).devices.empty());
  EXPECT_EQ(memory(trace_of({})).end_ns, 0);
}

TEST(Memory, PeakIsTheFirstHighestLevelAndLeaksAreAliveAtTheEnd) {
  const Trace trace = trace_of({event(10, 100, 1), event(20, 50, 2), event(30, -100, 1),
                                event(40, 100, 3), event(50, -100, 3)});
  const DeviceMemory found = memory(trace).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{0, 100, 150, 50, 150, 50}));
  EXPECT_EQ(found.peak, 2U);
  EXPECT_EQ(found.levels[found.peak].time_ns, 20);
  EXPECT_EQ(total_bytes(found.at_peak), 150);
  EXPECT_EQ(total_bytes(found.leaks), 50);
  EXPECT_EQ(total_blocks(found.leaks), 1U);
  EXPECT_EQ(found.allocations, 3U);
  EXPECT_EQ(found.frees, 2U);
  EXPECT_EQ(found.allocated_bytes, 250);
  EXPECT_EQ(found.unknown_at_peak, 0);
}

TEST(Memory, AFreeOfAnUnknownAddressWasAliveFromTheBeginning) {
  const DeviceMemory found = memory(trace_of({event(10, 100, 1), event(20, -70, 9)})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{70, 170, 100}));
  EXPECT_EQ(found.unknown_frees, 1U);
  EXPECT_EQ(found.unknown_at_peak, 70);
}

TEST(Memory, AFreeBeforeItsAllocationIsOfAnOlderBlock) {
  const DeviceMemory found = memory(trace_of({event(10, -8, 1), event(20, 8, 1)})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{8, 0, 8}));
  EXPECT_EQ(total_bytes(found.leaks), 8);
}

TEST(Memory, AnAddressAllocatedAgainWasFreedUnseen) {
  const DeviceMemory found =
      memory(trace_of({event(10, 100, 1), event(20, 30, 1), event(30, -30, 1)})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{0, 100, 30, 0}));
  EXPECT_EQ(found.unseen_frees, 1U);
  EXPECT_TRUE(found.leaks.empty());
}

TEST(Memory, WithoutAddressesTheLevelIsKnownAndTheBlocksAreNot) {
  const DeviceMemory found =
      memory(trace_of({event(10, 5, {}), event(20, -9, {}), event(30, 7, {})})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{4, 9, 0, 7}));
  EXPECT_TRUE(found.at_peak.empty());
  EXPECT_EQ(found.without_address, 3U);
  EXPECT_FALSE(found.fragmentation);
}

TEST(Memory, TheSourcesOwnTotalsAreTheLevel) {
  MemoryEvent first = event(10, 100, 1);
  first.total_allocated = 1100;
  first.total_reserved = 2000;
  MemoryEvent second = event(20, -100, 1);
  second.total_allocated = 1000;
  const DeviceMemory found = memory(trace_of({first, second})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{1000, 1100, 1000}));
  EXPECT_EQ(found.levels[0].reserved, std::nullopt);
  EXPECT_EQ(found.levels[1].reserved, 2000);
  EXPECT_EQ(found.most_reserved, 2000);
  EXPECT_EQ(found.unknown_at_peak, 1000);
  EXPECT_FALSE(found.fragmentation);  // where the other 1000 bytes are, nobody knows
}

TEST(Memory, TotalsBelowZeroAreRaised) {
  MemoryEvent first = event(10, -40, 1);
  first.total_allocated = -40;
  MemoryEvent second = event(20, 10, 2);
  second.total_allocated = -30;
  const DeviceMemory found = memory(trace_of({first, second})).devices.at(0);
  EXPECT_EQ(levels_of(found), (Levels{40, 0, 10}));
  EXPECT_EQ(found.peak, 0U);
}

TEST(Memory, DevicesAreApartAndProcessesOfOneAddUp) {
  TracePart part = on_a_thread();
  const auto other = part.track(trace::TrackKind::thread, 2, 2);
  MemoryEvent cpu = event(15, 7, 1);
  cpu.device = MemoryDevice::cpu;
  MemoryEvent second_gpu = event(16, 9, 1);
  second_gpu.device_index = 1;
  part.memory = {cpu, second_gpu, event(10, 100, 1), event(20, 50, 1, other),
                 event(30, -50, 1, other)};
  const Trace trace = assembled(std::move(part));
  const Memory found = memory(trace);
  ASSERT_EQ(found.devices.size(), 3U);
  EXPECT_EQ(levels_of(found.devices[0]), (Levels{0, 100, 150, 100}));
  EXPECT_EQ(found.devices[1].index, 1);
  EXPECT_EQ(found.devices[2].device, MemoryDevice::cpu);
  EXPECT_FALSE(found.devices[0].fragmentation);  // two address spaces
}

TEST(Memory, ABlockBelongsToTheInnermostScopeAndTheCallWithinIt) {
  TracePart part = on_a_thread();
  add_span(part, "ProfilerStep#3", SpanKind::annotation, 0, 100);
  add_span(part, "forward", SpanKind::scope, 10, 60);
  add_span(part, "aten::conv2d", SpanKind::cpu_op, 20, 50);
  add_span(part, "aten::empty", SpanKind::cpu_op, 25, 30);
  part.memory = {event(27, 10, 1), event(28, 20, 2), event(70, 5, 3), event(100, 1, 4)};
  part.memory[1].site = part.names.intern("cudaMalloc");
  const Trace trace = assembled(std::move(part));
  const DeviceMemory found = memory(trace).devices.at(0);
  ASSERT_EQ(found.at_peak.size(), 4U);
  EXPECT_EQ(found.at_peak[0].scope, "forward");
  EXPECT_EQ(found.at_peak[0].call, "cudaMalloc");
  EXPECT_EQ(found.at_peak[1].scope, "forward");
  EXPECT_EQ(found.at_peak[1].call, "aten::conv2d");
  EXPECT_EQ(found.at_peak[2].scope, "ProfilerStep#");
  EXPECT_EQ(found.at_peak[2].call, "");
  EXPECT_EQ(found.at_peak[3].scope, "");  // the step has just ended
}

TEST(Memory, GapsBetweenBlocksAreFragmentation) {
  // [1000, 1100) [1300, 1400) [1500, 1600): gaps of 200 and 100.
  const auto blocks = {event(1, 100, 1000), event(2, 100, 1300), event(3, 100, 1500)};
  const DeviceMemory found = memory(trace_of(blocks)).devices.at(0);
  ASSERT_TRUE(found.fragmentation);
  EXPECT_EQ(found.fragmentation->free_bytes, 300);
  EXPECT_EQ(found.fragmentation->largest_free_bytes, 200);
  EXPECT_DOUBLE_EQ(found.fragmentation->share, 1.0 / 3);
}

TEST(Memory, AGapLargerThanWhatIsReservedIsNoFreeMemory) {
  MemoryEvent last = event(3, 100, 1500);
  last.total_allocated = 300;
  last.total_reserved = 450;
  const auto blocks = {event(1, 100, 1000), event(2, 100, 1300), last};
  const DeviceMemory found = memory(trace_of(blocks)).devices.at(0);
  ASSERT_TRUE(found.fragmentation);
  EXPECT_EQ(found.fragmentation->free_bytes, 100);
}

TEST(Memory, HandlesSayNothingOfFragmentation) {
  MemoryEvent object = event(1, 100, 1000);
  object.is_handle = true;
  EXPECT_FALSE(memory(trace_of({object})).devices.at(0).fragmentation);
}

TEST(Memory, FiguresThatCannotBeTrueAreLeftOut) {
  EXPECT_EQ(levels_of(memory(trace_of({event(1, INT64_MIN, 1), event(2, 4, 1)})).devices.at(0)),
            (Levels{0, 4}));
}

TEST(Memory, ResidentMemoryIsTheLaunchersCounter) {
  TracePart part = on_a_thread();
  part.counters.push_back({part.names.intern("host memory"), 0, {5, 9}, {4096, 8192}});
  const Memory found = memory(assembled(std::move(part)));
  ASSERT_EQ(found.rss.size(), 2U);
  EXPECT_EQ(found.rss[1].bytes, 8192);
  EXPECT_EQ(found.begin_ns, 5);
  EXPECT_EQ(found.end_ns, 9);
}

// By the definitions, looking at every pair of events.
struct Counted {
  Levels levels;
  std::map<std::string, std::int64_t> at_peak;
  std::map<std::string, std::int64_t> leaks;
};

Counted counted(const std::vector<MemoryEvent>& events) {
  const auto same = [&](std::size_t a, std::size_t b) {
    return events[a].track == events[b].track && events[a].address == events[b].address;
  };
  const auto alive = [&](std::size_t block, std::size_t after) {
    if (events[block].bytes < 0 || block > after) return false;
    for (std::size_t i = block + 1; i <= after; ++i) {
      if (same(block, i)) return false;
    }
    return true;
  };
  const auto is_older = [&](std::size_t free) {
    if (events[free].bytes > 0) return false;
    for (std::size_t i = free; i-- > 0;) {
      if (same(free, i)) return events[i].bytes < 0;
    }
    return true;
  };
  const auto level_after = [&](std::size_t count) {
    std::int64_t level = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i >= count && is_older(i)) level -= events[i].bytes;
      if (i < count && alive(i, count - 1)) level += events[i].bytes;
    }
    return level;
  };
  Counted found;
  for (std::size_t count = 0; count <= events.size(); ++count) {
    found.levels.push_back(level_after(count));
  }
  const auto peak = static_cast<std::size_t>(
      std::max_element(found.levels.begin(), found.levels.end()) - found.levels.begin());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string scope = "t" + std::to_string(events[i].track);
    if (peak > 0 && alive(i, peak - 1)) found.at_peak[scope] += events[i].bytes;
    if (alive(i, events.size() - 1)) found.leaks[scope] += events[i].bytes;
  }
  return found;
}

TEST(Memory, AgreesWithItsDefinitionOnRandomEvents) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    TracePart part;
    std::vector<MemoryEvent> events;
    const auto processes = trace::pick(random, 1, 3);
    for (std::int64_t p = 0; p < processes; ++p) {
      const auto track = part.track(trace::TrackKind::thread, p, p);
      add_span(part, "t" + std::to_string(track), SpanKind::scope, 0, 1000, track);
    }
    const auto count = trace::pick(random, 1, 30);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto address = static_cast<std::uint64_t>(trace::pick(random, 1, 6));
      const std::int64_t sign = trace::pick(random, 0, 1) == 0 ? 1 : -1;
      events.push_back(event(i, sign * trace::pick(random, 1, 100), address,
                             static_cast<trace::TrackId>(trace::pick(random, 0, processes - 1))));
    }
    part.memory.assign(events.begin(), events.end());
    const Trace trace = assembled(std::move(part));
    const DeviceMemory found = memory(trace).devices.at(0);
    const Counted expected = counted(events);
    ASSERT_EQ(levels_of(found), expected.levels);
    const auto by_scope = [](const std::vector<MemoryUse>& uses) {
      std::map<std::string, std::int64_t> bytes;
      for (const MemoryUse& use : uses) bytes[std::string(use.scope)] += use.bytes;
      return bytes;
    };
    ASSERT_EQ(by_scope(found.at_peak), expected.at_peak);
    ASSERT_EQ(by_scope(found.leaks), expected.leaks);
  }
}

trace::Trace sampled(const std::vector<double>& rss, std::optional<double> peak) {
  TracePart part = on_a_thread();
  const auto add = [&](const char* name, std::int64_t time, double value) {
    part.counters.push_back({part.names.intern(name), 0, {time}, {value}});
  };
  if (peak) add("peak host memory", 900, *peak);
  trace::Counter counter{part.names.intern("host memory"), 0, {}, {}};
  for (const double bytes : rss) {
    counter.time_ns.push_back(static_cast<std::int64_t>(100 + counter.time_ns.size()));
    counter.value.push_back(bytes);
  }
  part.counters.push_back(counter);
  trace::RunInfo run;
  run.begin_ns = 50;
  run.end_ns = 900;
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), run);
}

TEST(HostMemory, LastsAsLongAsTheProgram) {
  const trace::Trace trace = sampled({10, 30, 20}, {});
  const Memory found = memory(trace);
  EXPECT_EQ(found.begin_ns, 50);
  EXPECT_EQ(found.end_ns, 900);
  EXPECT_EQ(peak_rss(found), 30);
}

TEST(HostMemory, PeaksWhereTheKernelSawMoreThanTheSamples) {
  EXPECT_EQ(peak_rss(memory(sampled({10, 30}, 50.0))), 50);
  EXPECT_EQ(peak_rss(memory(sampled({10, 60}, 50.0))), 60);
}

TEST(HostMemory, ASampleAtTheStartIsNoPeak) {
  EXPECT_EQ(peak_rss(memory(sampled({10}, {}))), std::nullopt);
  EXPECT_EQ(peak_rss(memory(sampled({10}, 50.0))), 50);
}

}  // namespace fathom::analyze::memory_test
