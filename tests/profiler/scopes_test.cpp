#include <fathom/fathom.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fathom::scopes_test {

// Each test starts with the global profiler on and empty.
class Scopes : public ::testing::Test {
 protected:
  void SetUp() override { profiler().configure({}); }
};

void leaf() {
  FATHOM_SCOPE("leaf");
}

void branch() {
  FATHOM_SCOPE("branch");
  leaf();
  leaf();
}

TEST_F(Scopes, AreCountedByName) {
  for (int i = 0; i < 10; ++i) branch();
  const Summaries summaries = profiler().summary();
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries.at("branch").calls, 10U);
  EXPECT_EQ(summaries.at("leaf").calls, 20U);
}

TEST_F(Scopes, FiguresAreInOrder) {
  for (int i = 0; i < 1000; ++i) branch();
  for (const auto& [name, summary] : profiler().summary()) {
    EXPECT_LE(summary.min_ns, summary.p50_ns);
    EXPECT_LE(summary.p50_ns, summary.p95_ns);
    EXPECT_LE(summary.p95_ns, summary.p99_ns);
    EXPECT_LE(summary.p99_ns, summary.max_ns);
    EXPECT_NEAR(*summary.avg_time_ms() * 1000,
                *summary.total_time_ms() * (name == "leaf" ? 0.5 : 1), 1e-6);
  }
}

TEST_F(Scopes, SelfTimeLeavesOutTheScopesInside) {
  for (int i = 0; i < 100; ++i) branch();
  const Summaries summaries = profiler().summary();
  const OperationFigures& outer = summaries.at("branch");
  EXPECT_NEAR(*outer.self_ns, *outer.total_ns - *summaries.at("leaf").total_ns, 1e-3);
}

TEST_F(Scopes, EntriesKnowTheirParents) {
  branch();
  const std::vector<Entry> entries = profiler().entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].operation, "branch");
  EXPECT_FALSE(entries[0].parent.has_value());
  EXPECT_EQ(entries[1].operation, "leaf");
  EXPECT_EQ(entries[1].parent, 0U);
  EXPECT_EQ(entries[2].parent, 0U);
  EXPECT_LE(entries[1].end_time, entries[2].start_time);
  EXPECT_LE(entries[2].end_time, entries[0].end_time);
}

TEST_F(Scopes, OfFinishedThreadsAreNotLost) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < 100; ++j) branch();
      });
    }
  }
  EXPECT_EQ(profiler().summary().at("branch").calls, 1200U);
  EXPECT_EQ(profiler().entries().size(), 3600U);
  EXPECT_EQ(profiler().drops().entries, 0U);
}

TEST_F(Scopes, OnDifferentThreadsAreNotNestedInEachOther) {
  {
    FATHOM_SCOPE("around");
    std::jthread([] { branch(); }).join();
  }
  const std::vector<Entry> entries = profiler().entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[1].operation, "branch");
  EXPECT_FALSE(entries[1].parent.has_value());
  EXPECT_NE(entries[1].thread, entries[0].thread);
}

TEST_F(Scopes, BeyondMaxEntriesAreDroppedButMeasured) {
  profiler().configure({.max_entries = 1000});
  for (int i = 0; i < 50'000; ++i) leaf();
  EXPECT_EQ(profiler().entries().size(), 1000U);
  EXPECT_EQ(profiler().summary().at("leaf").calls, 50'000U);
  EXPECT_EQ(profiler().drops().entries, 49'000U);
}

TEST_F(Scopes, AreInertWhileDisabled) {
  profiler().enable(false);
  branch();
  const Scope scope = profiler().profile("off");
  EXPECT_TRUE(profiler().summary().empty());
  profiler().enable(true);
  branch();
  EXPECT_EQ(profiler().summary().at("branch").calls, 1U);
}

TEST_F(Scopes, OpenAcrossAResetAreNotCounted) {
  {
    FATHOM_SCOPE("before");
    profiler().reset();
    FATHOM_SCOPE("after");
  }
  const Summaries summaries = profiler().summary();
  EXPECT_FALSE(summaries.contains("before"));
  EXPECT_EQ(summaries.at("after").calls, 1U);
}

TEST_F(Scopes, ThatEndByExceptionAreMarked) {
  const auto fail = [] {
    FATHOM_SCOPE("fails");
    throw std::runtime_error("no");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  { FATHOM_SCOPE("fine"); }
  const Summaries summaries = profiler().summary();
  EXPECT_EQ(summaries.at("fails").errors, 1U);
  EXPECT_EQ(summaries.at("fine").errors, 0U);
  EXPECT_TRUE(profiler().entries().at(0).failed);
  EXPECT_FALSE(profiler().entries().at(1).failed);
}

TEST_F(Scopes, BegunWhileAnExceptionFliesAreNotMarkedByIt) {
  struct CleansUp {
    ~CleansUp() { FATHOM_SCOPE("cleanup"); }
  };
  const auto fail = [] {
    const CleansUp cleanup;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(profiler().summary().at("cleanup").errors, 0U);
}

TEST_F(Scopes, WithNamesMadeAtRunTime) {
  for (int i = 0; i < 3; ++i) const Scope scope = profiler().profile("step " + std::to_string(i));
  EXPECT_EQ(profiler().summary().size(), 3U);
}

TEST_F(Scopes, MoreThanSixteenBitsOfNames) {
  constexpr int kNames = 70'000;
  Profiler own({.max_entries = 10 * kNames});
  for (int i = 0; i < kNames; ++i) {
    const Scope scope = own.profile("name " + std::to_string(i));
  }
  const Summaries summaries = own.summary();
  EXPECT_EQ(summaries.size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(summaries.at("name 69999").calls, 1U);
  const std::vector<Entry> entries = own.entries();
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(entries.back().operation, "name 69999");
}

TEST_F(Scopes, CarryAttributes) {
  {
    Scope scope = profiler().profile("copy", {.device = "gpu",
                                              .backend = "opencl",
                                              .size = 4096,
                                              .attributes = {{"batch", 32}, {"name", "a\"b"}}});
    scope.attribute({"hit", true});
  }
  const Entry entry = profiler().entries().at(0);
  EXPECT_EQ(entry.device, "gpu");
  EXPECT_EQ(entry.backend, "opencl");
  const std::vector<Attribute> expected = {
      {"size", 4096}, {"batch", 32}, {"name", "a\"b"}, {"hit", true}};
  EXPECT_EQ(entry.attributes, expected);
}

TEST_F(Scopes, MayEndOutOfOrder) {
  Scope first = profiler().profile("first");
  Scope second = profiler().profile("second");
  first.end();
  leaf();
  second.end();
  leaf();
  const Summaries summaries = profiler().summary();
  EXPECT_EQ(summaries.at("first").calls, 1U);
  EXPECT_EQ(summaries.at("second").calls, 1U);
  EXPECT_EQ(summaries.at("leaf").calls, 2U);
}

// While both are open, the time is that of the one inside.
TEST_F(Scopes, ThatEndOutOfOrderDoNotCountTheirTimeTwice) {
  {
    const Scope around = profiler().profile("around");
    Scope first = profiler().profile("first");
    Scope second = profiler().profile("second");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    first.end();
    second.end();
  }
  const Summaries summaries = profiler().summary();
  double self_ns = 0;
  for (const auto& [name, figures] : summaries) self_ns += *figures.self_ns;
  EXPECT_NEAR(self_ns, *summaries.at("around").total_ns, 100);
}

TEST_F(Scopes, MayEndOnAnotherThread) {
  Scope scope = profiler().profile("wanders");
  std::jthread([&] { scope.end(); }).join();
  { const Scope next = profiler().profile("next"); }
  EXPECT_EQ(profiler().summary().at("wanders").calls, 1U);
}

TEST_F(Scopes, MayOutliveTheirThreadAndTheirProfiler) {
  Scope scope;
  {
    Profiler own;
    std::jthread([&] { scope = own.profile("orphan"); }).join();
  }
  scope.end();
}

TEST_F(Scopes, SampledFollowTheirRoot) {
  profiler().configure({.sample_rate = 0.1});
  for (int i = 0; i < 20'000; ++i) branch();
  const Summaries summaries = profiler().summary();
  const std::uint64_t roots = summaries.at("branch").calls;
  EXPECT_NEAR(static_cast<double>(roots), 2000, 300);
  EXPECT_EQ(summaries.at("leaf").calls, 2 * roots);
}

TEST_F(Scopes, OfOneProfilerAreNotThoseOfAnother) {
  Profiler own;
  {
    const Scope scope = own.profile("mine");
    leaf();
  }
  EXPECT_TRUE(own.summary().contains("mine"));
  EXPECT_FALSE(own.summary().contains("leaf"));
  EXPECT_FALSE(profiler().summary().contains("mine"));
}

TEST_F(Scopes, WithVeryLongNames) {
  const std::string name(100'000, 'x');
  { const Scope scope = profiler().profile(name); }
  EXPECT_EQ(profiler().summary().begin()->first, name);
}

using namespace std::chrono_literals;

TEST_F(Scopes, EndedOnAnotherThreadLastUntilThen) {
  Scope handed_over = profiler().profile("handed over");
  std::thread([&] { handed_over.end(); }).join();
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(*profiler().summary().at("handed over").total_time_ms(), 40);
  ASSERT_EQ(profiler().entries().size(), 1U);
  EXPECT_LT(profiler().entries()[0].duration_ms(), 40);
}

// The thread that began it hears of its end when it next begins or ends a scope.
TEST_F(Scopes, EndedOnAnotherThreadHaveNothingInsideThatBeginsLater) {
  Scope handed_over = profiler().profile("handed over");
  {
    FATHOM_SCOPE("inside");
    std::thread([&] { handed_over.end(); }).join();
    leaf();
  }
  leaf();
  std::size_t inside = 0;
  for (const Entry& entry : profiler().entries()) {
    if (entry.operation == "leaf" && !entry.parent) ++inside;
    EXPECT_FALSE(entry.operation == "handed over" && entry.parent);
  }
  EXPECT_EQ(inside, 1U) << "the second leaf; the first is inside what goes on";
  const Summaries summaries = profiler().summary();
  EXPECT_EQ(summaries.at("handed over").calls, 1U);
  EXPECT_EQ(summaries.at("inside").calls, 1U);
  EXPECT_EQ(summaries.at("leaf").calls, 2U);
}

// Whatever either thread is in the middle of; under the thread sanitizer, too.
TEST_F(Scopes, AreEndedByOthersWhileTheirThreadIsBusy) {
  constexpr int kScopes = 2000;
  std::vector<Scope> open(kScopes);
  std::atomic<int> ready = 0;
  std::thread ender([&] {
    for (int i = 0; i < kScopes; ++i) {
      while (ready.load() <= i) std::this_thread::yield();
      open[static_cast<std::size_t>(i)].end();
    }
  });
  for (int i = 0; i < kScopes; ++i) {
    open[static_cast<std::size_t>(i)] = profiler().profile("handed over");
    ++ready;
    for (int k = 0; k < 20; ++k) leaf();
  }
  ender.join();
  leaf();
  const Summaries summaries = profiler().summary();
  EXPECT_EQ(summaries.at("handed over").calls, static_cast<std::uint64_t>(kScopes));
  EXPECT_EQ(summaries.at("leaf").calls, 20U * kScopes + 1);
}

TEST_F(Scopes, WhoseThreadIsGoneLastUntilTheyEnd) {
  Scope left_open;
  std::thread([&] {
    left_open = profiler().profile("left open");
    FATHOM_SCOPE("inside");
  }).join();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(profiler().summary().size(), 1U) << "it has not ended";
  left_open.end();
  EXPECT_GE(*profiler().summary().at("left open").total_time_ms(), 30);
  const std::vector<Entry> entries = profiler().entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].operation, "left open");
  EXPECT_GE(entries[0].duration_ms(), 30);
  EXPECT_EQ(entries[1].parent, 0U);
}

TEST_F(Scopes, OpenAtAResetAreForgotten) {
  {
    FATHOM_SCOPE("around");
    const Scope other = profiler().profile("also around");
    profiler().reset();
    leaf();
  }
  const std::vector<Entry> entries = profiler().entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].operation, "leaf");
  EXPECT_FALSE(entries[0].parent);
  EXPECT_EQ(profiler().summary().size(), 1U);
  EXPECT_EQ(profiler().drops().entries, 0U);
}

TEST_F(Scopes, TwoMayStandOnOneLine) {
  // clang-format off
  { FATHOM_SCOPE("first"); FATHOM_SCOPE("second"); }
  // clang-format on
  EXPECT_EQ(profiler().summary().size(), 2U);
}

TEST_F(Scopes, KeepAttributesOf64BitsAsTheyAre) {
  const std::vector<Attribute> attributes = {
      {"most", UINT64_MAX}, {"least", INT64_MIN}, {"large", INT64_MAX}, {"odd", (1ULL << 53) + 1}};
  profiler().profile("counted", {.attributes = attributes}).end();
  ASSERT_EQ(profiler().entries().size(), 1U);
  EXPECT_EQ(profiler().entries()[0].attributes, attributes);
  EXPECT_EQ(std::get<std::uint64_t>(attributes[0].value), UINT64_MAX);
}

void recurse(int depth) {
  FATHOM_SCOPE("recurse");
  if (depth == 0) std::this_thread::sleep_for(20ms);
  if (depth > 0) recurse(depth - 1);
}

TEST_F(Scopes, ThatRecurseCountTheirWallTimeOnce) {
  recurse(4);
  const OperationFigures figures = profiler().summary().at("recurse");
  EXPECT_EQ(figures.calls, 5U);
  EXPECT_GE(*figures.total_time_ms(), 20);
  EXPECT_DOUBLE_EQ(*figures.total_ns, *figures.max_ns) << "the outermost call";
  EXPECT_NEAR(*figures.total_ns, *figures.self_ns, 1);
  EXPECT_GE(*figures.mean_ns(), *figures.min_ns) << "a call as it is, whatever is around it";
  leaf();
  leaf();
  EXPECT_FALSE(profiler().summary().at("leaf").nested_ns);
}

// In the child of a fork, the scopes that were open are the parent's.
TEST_F(Scopes, OfTheParentAreNotAForkedChilds) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow a forked child";
#endif
  Scope free = profiler().profile("of the parent");
  pid_t child = -1;
  {
    FATHOM_SCOPE("also of the parent");
    child = fork();
    if (child == 0) leaf();
  }
  free.end();
  if (child == 0) {
    const std::vector<Entry> entries = profiler().entries();
    const bool is_right = entries.size() == 1 && entries[0].operation == "leaf" &&
                          !entries[0].parent && profiler().summary().size() == 1;
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(profiler().summary().size(), 2U);
}

}  // namespace fathom::scopes_test
