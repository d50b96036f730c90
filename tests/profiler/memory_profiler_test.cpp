#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "fathom/fathom.h"

namespace fathom::memory_profiler_test {

constexpr std::int64_t kMb = 1024 * 1024;

// As a layer tells it.
void allocate(std::uint64_t address, std::int64_t bytes, std::int32_t device = 0) {
  profiler().record(MemoryRecord{now_ns(), bytes, device, address, profiler().innermost_scope(),
                                 "clCreateBuffer", gettid()});
}

void release(std::uint64_t address, std::int64_t bytes, std::int32_t device = 0) {
  allocate(address, -bytes, device);
}

TEST(MemoryProfiler, KnowsThePeakAndWhatWasAliveThen) {
  MemoryProfiler memory;
  memory.start();
  {
    FATHOM_SCOPE("load");
    allocate(1, 10 * kMb);
  }
  {
    FATHOM_SCOPE("forward");
    allocate(2, 30 * kMb);
  }
  release(2, 30 * kMb);
  allocate(3, 5 * kMb);
  memory.stop();
  const MemoryPeak peak = memory.peak();
  EXPECT_DOUBLE_EQ(peak.peak_allocated_mb, 40);
  EXPECT_GT(peak.peak_time_ms, 0);
  ASSERT_EQ(peak.alive.size(), 2U);
  EXPECT_EQ(peak.alive[0].scope, "forward");
  EXPECT_EQ(peak.alive[0].call, "clCreateBuffer");
  EXPECT_EQ(peak.alive[1].scope, "load");
  const std::vector<MemoryUse> leaks = memory.leaks();
  ASSERT_EQ(leaks.size(), 2U);
  EXPECT_DOUBLE_EQ(leaks[0].allocated_mb(), 10);
  EXPECT_EQ(leaks[1].scope, "");
}

TEST(MemoryProfiler, CountsFromItsStartAndForgetsWhenStartedAgain) {
  allocate(50, kMb);
  MemoryProfiler memory;
  memory.start();
  release(50, kMb);
  EXPECT_TRUE(memory.leaks().empty());
  allocate(51, kMb);
  EXPECT_EQ(memory.leaks().size(), 1U);
  memory.start();
  EXPECT_TRUE(memory.leaks().empty());
  memory.stop();
  allocate(52, kMb);
  EXPECT_TRUE(memory.leaks().empty());
  EXPECT_EQ(memory.peak().peak_allocated_mb, 0);
}

// profile_function looks at the records again when it is done; whoever follows memory does not.
TEST(MemoryProfiler, HearsOnceOfWhatAProfiledFunctionAllocates) {
  MemoryProfiler memory;
  memory.start();
  std::uint64_t address = 1000;
  const auto replace = [&] {  // always one buffer: the one before is freed
    allocate(address + 1, kMb);
    if (address > 1000) release(address, kMb);
    ++address;
  };
  profiler().profile_function(replace, "replace", 1, 5);
  memory.stop();
  EXPECT_DOUBLE_EQ(memory.peak().peak_allocated_mb, 2);
  ASSERT_EQ(memory.leaks().size(), 1U);
  EXPECT_DOUBLE_EQ(memory.leaks()[0].allocated_mb(), 1);
}

TEST(MemoryProfiler, TellsTheSameAddressOfTwoDevicesApart) {
  MemoryProfiler memory;
  memory.start();
  allocate(1, kMb, 0);
  allocate(1, 2 * kMb, 1);
  release(1, kMb, 0);
  memory.stop();
  ASSERT_EQ(memory.leaks().size(), 1U);
  EXPECT_DOUBLE_EQ(memory.leaks()[0].allocated_mb(), 2);
}

TEST(MemoryProfiler, TracksWhatPartsOfTheProgramLeaveBehind) {
  MemoryProfiler memory;
  memory.start();
  for (std::uint64_t i = 0; i < 2; ++i) {
    const MemoryTrack track = memory.track("step");
    allocate(10 + i, 4 * kMb);
    allocate(20, 8 * kMb);
    release(20, 8 * kMb);
  }
  memory.stop();
  const std::vector<TrackedMemory> tracked = memory.tracked();
  ASSERT_EQ(tracked.size(), 1U);
  EXPECT_EQ(tracked[0].name, "step");
  EXPECT_EQ(tracked[0].count, 2U);
  EXPECT_DOUBLE_EQ(tracked[0].change_mb, 8);
  EXPECT_DOUBLE_EQ(tracked[0].peak_mb, 16);
  EXPECT_TRUE(tracked[0].rss_change_mb);
  EXPECT_EQ(memory.leaks().at(0).scope, "step");  // a track is a scope
}

TEST(MemoryProfiler, SamplesTheHost) {
  MemoryProfiler memory({.sample_interval_ms = 0.5});
  memory.start();
  memory.stop();
  ASSERT_FALSE(memory.timeline().empty());
  EXPECT_GT(memory.timeline().back().rss_mb.value_or(0), 0);
  EXPECT_GT(memory.peak().peak_rss_mb.value_or(0), 0);
  EXPECT_FALSE(memory.timeline().back().reserved_mb);
}

TEST(MemoryProfiler, WithoutHistoryKeepsPeaksAlone) {
  MemoryProfiler memory({.record_history = false});
  memory.start();
  allocate(1, kMb);
  memory.stop();
  EXPECT_TRUE(memory.timeline().empty());
  EXPECT_DOUBLE_EQ(memory.peak().peak_allocated_mb, 1);
}

TEST(MemoryProfiler, TakesRecordsOfManyThreadsWhileItIsAsked) {
  MemoryProfiler memory({.sample_interval_ms = 0.1});
  memory.start();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      for (std::uint64_t i = 0; i < 500; ++i) {
        const MemoryTrack track = memory.track("worker");
        allocate(t * 1000 + i, 100);
        if (i % 2 == 0) release(t * 1000 + i, 100);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(memory.peak());
    static_cast<void>(memory.timeline());
  }
  for (std::thread& thread : threads) thread.join();
  memory.stop();
  ASSERT_EQ(memory.leaks().size(), 1U);
  EXPECT_EQ(memory.leaks()[0].blocks, 1000U);
  EXPECT_EQ(memory.tracked().at(0).count, 2000U);
}

TEST(MemoryProfiler, SeesWhatAProfiledFunctionAllocatesOnce) {
  profiler().configure({});
  MemoryProfiler memory;
  memory.start();
  // A recorder was heard of, and so GPU work is looked for.
  profiler().record(GpuActivity{});
  std::uint64_t address = 1000;
  profiler().profile_function([&] { allocate(++address, kMb); }, "leaks", 0, 3);
  profiler().profile_function([&] { allocate(1, kMb), release(1, kMb); }, "frees", 0, 3);
  memory.stop();
  ASSERT_EQ(memory.leaks().size(), 1U);
  EXPECT_EQ(memory.leaks()[0].blocks, 3U);
  EXPECT_DOUBLE_EQ(memory.leaks()[0].allocated_mb(), 3);
  EXPECT_DOUBLE_EQ(memory.peak().peak_allocated_mb, 4);
}

TEST(MemoryProfiler, ATrackMayOutliveIt) {
  MemoryTrack track;
  {
    MemoryProfiler memory;
    memory.start();
    track = memory.track("longer");
  }
  track.end();
}

TEST(MemoryProfiler, AForkedChildCanStopIt) {
#if defined(FATHOM_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer cannot follow a forked child";
#endif
  MemoryProfiler memory;
  memory.start();
  const pid_t child = fork();
  if (child == 0) {
    allocate(77, kMb);
    memory.stop();
    _exit(memory.leaks().size() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  memory.stop();
  EXPECT_TRUE(memory.leaks().empty());
}

TEST(MemoryProfiler, ExportsJson) {
  MemoryProfiler memory;
  memory.start();
  allocate(1, 3 * kMb);
  memory.stop();
  const std::string path = ::testing::TempDir() + "fathom_memory_export.json";
  memory.export_json(path);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  EXPECT_NE(text.str().find(R"("peak_allocated_mb":3)"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(R"("call":"clCreateBuffer")"), std::string::npos);
  EXPECT_THROW(memory.export_json("/nowhere/memory.json"), std::runtime_error);
}

}  // namespace fathom::memory_profiler_test
