#include <fathom/fathom.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fathom::functions_test {

class Functions : public ::testing::Test {
 protected:
  void SetUp() override { profiler().configure({}); }
};

TEST_F(Functions, WrappedPassArgumentsAndResultsThrough) {
  auto add = wrap("add", [](int a, int b) { return a + b; });
  EXPECT_EQ(add(2, 3), 5);
  auto take = wrap("take", [](std::unique_ptr<int> value) { return *value; });
  EXPECT_EQ(take(std::make_unique<int>(7)), 7);
  int number = 1;
  auto same = wrap("same", [](int& value) -> int& { return value; });
  EXPECT_EQ(&same(number), &number);
  EXPECT_EQ(profiler().summary().at("add").calls, 1U);
  EXPECT_EQ(profiler().summary().size(), 3U);
}

TEST_F(Functions, WrappedPassExceptionsThroughAndMarkThem) {
  auto fail = wrap("fail", [] { throw std::runtime_error("no"); });
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(profiler().summary().at("fail").errors, 1U);
}

TEST_F(Functions, SessionsHaveTheMeasuredIterationsOnly) {
  int calls = 0;
  const ProfileSession session = profiler().profile_function([&] { ++calls; }, "work", 3, 10);
  EXPECT_EQ(calls, 13);
  EXPECT_EQ(session.name, "work");
  EXPECT_EQ(session.scopes.at("work").calls, 10U);
  EXPECT_EQ(session.entries.size(), 10U);
  EXPECT_GE(session.entries.back().start_time, session.entries.front().end_time);
}

// As a recorder would tell of it: a kernel that runs for a while inside the function.
void run_kernel() {
  FATHOM_SCOPE("inner");
  GpuActivity kernel;
  kernel.name = "k";
  kernel.scope = profiler().innermost_scope();
  kernel.size = {2, {64, 32, 0}, {8, 8, 0}};
  kernel.start_ns = now_ns();
  while (now_ns() < kernel.start_ns + 100'000) {
  }
  kernel.end_ns = now_ns();
  profiler().record(kernel);
}

TEST_F(Functions, SessionsHaveWhatTheGpuDidInTheMeasuredIterations) {
  const ProfileSession session = profiler().profile_function(run_kernel, "work", 3, 10);
  ASSERT_EQ(session.kernels.size(), 1U);
  EXPECT_EQ(session.kernels[0].name, "k");
  EXPECT_EQ(session.kernels[0].calls, 10U);
  EXPECT_EQ(session.kernels[0].global_size, "64x32");
  EXPECT_EQ(session.kernels[0].local_size, "8x8");
  EXPECT_EQ(session.gpu_time_ms(), session.kernels[0].total_time_ms());
  EXPECT_EQ(session.gpu_ns.value() + session.cpu_ns.value(), session.total_ns);
  for (const Entry& entry : session.entries) EXPECT_GE(entry.gpu_time_ms().value(), 0.1);
  EXPECT_EQ(session.scopes.size(), 1U);
}

TEST_F(Functions, SessionsOfAFunctionThatNoRecorderSawHaveNoGpuFigures) {
  const ProfileSession session = profiler().profile_function([] {}, "work");
  EXPECT_FALSE(session.gpu_time_ms());
  EXPECT_TRUE(session.kernels.empty());
  EXPECT_GT(session.total_time_ms(), 0);
}

KernelSummary kernel(const char* name, std::uint64_t calls, double total_ns) {
  KernelSummary made;
  made.name = name;
  made.calls = calls;
  made.total_ns = total_ns;
  return made;
}

TEST_F(Functions, SessionsAreComparedKernelByKernel) {
  ProfileSession before;
  before.total_ns = 100;
  before.peak_memory_bytes = 8 << 20;
  before.kernels = {kernel("a", 10, 50), kernel("gone", 1, 2)};
  ProfileSession after;
  after.total_ns = 40;
  after.peak_memory_bytes = 10 << 20;
  after.kernels = {kernel("a", 20, 20), kernel("new", 1, 3)};
  const SessionComparison change = compare_sessions(before, after);
  EXPECT_EQ(change.speedup, 2.5);
  EXPECT_EQ(change.memory_diff.peak_mb, 2.0);
  ASSERT_EQ(change.kernels.size(), 3U);
  EXPECT_EQ(change.kernels[0].name, "a");
  EXPECT_EQ(change.kernels[0].speedup, 5.0);
  EXPECT_EQ(change.kernels[1].name, "new");
  EXPECT_FALSE(change.kernels[1].before_ms);
  EXPECT_FALSE(change.kernels[2].after_ms);
}

// Twice as many iterations take twice as long, and nothing got slower.
TEST_F(Functions, SessionsAreComparedPerIteration) {
  ProfileSession before;
  before.total_ns = 100;
  before.entries.resize(10);
  before.kernels = {kernel("a", 10, 80)};
  ProfileSession after;
  after.total_ns = 200;
  after.entries.resize(20);
  after.kernels = {kernel("a", 20, 160)};
  const SessionComparison change = compare_sessions(before, after);
  EXPECT_EQ(change.speedup, 1.0);
  ASSERT_EQ(change.kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(change.kernels[0].before_ms.value(), 8e-6);
  EXPECT_DOUBLE_EQ(change.kernels[0].after_ms.value(), 8e-6);
  EXPECT_EQ(change.kernels[0].speedup, 1.0);

  const auto nothing = [] {};
  const ProfileSession few = profiler().profile_function(nothing, "f", 0, 2);
  const ProfileSession many = profiler().profile_function(nothing, "f", 0, 200);
  EXPECT_EQ(few.iterations(), 2U);
  EXPECT_EQ(many.iterations(), 200U);
}

TEST_F(Functions, TheGlobalProfilerIsTheSameFromEveryThread) {
  const Profiler* other = nullptr;
  std::jthread([&] { other = &profiler(); }).join();
  EXPECT_EQ(other, &profiler());
}

TEST_F(Functions, BottlenecksAreSortedAndShareTheWhole) {
  for (int i = 0; i < 3; ++i) {
    const Scope outer = profiler().profile("outer");
    for (int j = 0; j < 10; ++j)
      const Scope inner = profiler().profile("inner " + std::to_string(i));
  }
  const auto all = profiler().bottlenecks(100);
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i - 1].self_ns, all[i].self_ns);
  }
  EXPECT_NEAR(all.back().cumulative_share, 1, 1e-9);
  EXPECT_EQ(profiler().bottlenecks(2).size(), 2U);
  EXPECT_NE(profiler().bottlenecks_text(2).find("… 2 more"), std::string::npos);
}

TEST_F(Functions, TextSaysSoWhereNothingWasMeasured) {
  EXPECT_EQ(profiler().summary_text(), "  Nothing was measured.\n");
  EXPECT_EQ(profiler().bottlenecks_text(), "  Nothing was measured.\n");
}

// Clean under the thread sanitizer, and nothing is counted twice.
TEST_F(Functions, MayBeCalledWhileOthersMeasure) {
  profiler().configure({.max_entries = 1000});
  std::atomic<bool> done = false;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      while (!done) {
        FATHOM_SCOPE("outer");
        FATHOM_SCOPE("inner");
        const Scope named = profiler().profile("named", {.size = 3});
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    for (const auto& [operation, summary] : profiler().summary()) {
      EXPECT_LE(summary.min_ns, summary.max_ns);
    }
    EXPECT_LE(profiler().entries().size(), 1000U);
    profiler().enable(round % 5 != 0);
    if (round % 3 == 0) profiler().reset();
    if (round % 10 == 0)
      profiler().start_recording(::testing::TempDir() + std::to_string(getpid()) + "busy.pftrace");
    if (round % 10 == 7) profiler().stop_recording();
    std::jthread([] { FATHOM_SCOPE("short-lived"); });
  }
  done = true;
  workers.clear();
  profiler().stop_recording();
  profiler().enable(true);
  profiler().reset();
  EXPECT_TRUE(profiler().summary().empty());
}

}  // namespace fathom::functions_test
