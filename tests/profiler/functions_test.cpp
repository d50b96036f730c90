#include <fathom/fathom.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fathom {
namespace {

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
  EXPECT_EQ(profiler().summary().at("add").call_count, 1U);
  EXPECT_EQ(profiler().summary().size(), 3U);
}

TEST_F(Functions, WrappedPassExceptionsThroughAndMarkThem) {
  auto fail = wrap("fail", [] { throw std::runtime_error("no"); });
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(profiler().summary().at("fail").error_count, 1U);
}

TEST_F(Functions, SessionsHaveTheMeasuredIterationsOnly) {
  int calls = 0;
  const Session session = profiler().profile_function([&] { ++calls; }, "work", 3, 10);
  EXPECT_EQ(calls, 13);
  EXPECT_EQ(session.operation, "work");
  EXPECT_EQ(session.summary.call_count, 10U);
  EXPECT_EQ(session.entries.size(), 10U);
  EXPECT_GE(session.entries.back().start_time, session.entries.front().end_time);
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
    EXPECT_GE(all[i - 1].self_time_ms, all[i].self_time_ms);
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
      EXPECT_LE(summary.min_time_ms, summary.max_time_ms);
    }
    EXPECT_LE(profiler().entries().size(), 1000U);
    profiler().enable(round % 5 != 0);
    if (round % 3 == 0) profiler().reset();
    if (round % 10 == 0) profiler().start_recording(::testing::TempDir() + "busy.pftrace");
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

}  // namespace
}  // namespace fathom
