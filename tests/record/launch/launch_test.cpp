#include "record/launch/launch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/error.h"

namespace fathom::record::launch_test {

using std::chrono::milliseconds;

Launched shell(const std::string& script, const Environment& environment = {}) {
  return launch({"sh", "-c", script}, environment, milliseconds(1));
}

TEST(Launch, GivesTheExitStatus) {
  EXPECT_EQ(shell("exit 0").ended.exit_status, 0);
  EXPECT_EQ(shell("exit 37").ended.exit_status, 37);
}

TEST(Launch, GivesTheExitStatusWhereEndedChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(shell("exit 7").ended.exit_status, 7);
  EXPECT_EQ(std::signal(SIGCHLD, before), SIG_IGN) << "left as it was found";
}

TEST(Launch, GivesTheSignalThatKilledTheProgram) {
  EXPECT_EQ(shell("kill -SEGV $$").ended.signal, SIGSEGV);
  EXPECT_EQ(shell("kill -KILL $$").ended.signal, SIGKILL);
}

TEST(Launch, AddsToTheEnvironmentAndReplacesWhatIsThere) {
  setenv("FATHOM_TEST_A", "old", 1);
  const Environment added = {{"FATHOM_TEST_A", "new"}, {"FATHOM_TEST_B", "b c"}};
  const std::string script =
      "[ \"$FATHOM_TEST_A\" = new ] && [ \"$FATHOM_TEST_B\" = 'b c' ] && [ -n \"$PATH\" ] && "
      "[ \"$(env | grep -c FATHOM_TEST_A)\" = 1 ]";
  EXPECT_EQ(shell(script, added).ended.exit_status, 0);
}

TEST(Launch, SaysWhyACommandCannotBeRun) {
  try {
    launch({"/no/such/program"}, {}, milliseconds(10));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/program: cannot be run: No such file"),
              std::string::npos);
  }
}

TEST(Launch, PassesTerminationOn) {
  std::thread later([] {
    std::this_thread::sleep_for(milliseconds(200));
    kill(getpid(), SIGTERM);
  });
  const Launched launched = shell("trap 'exit 9' TERM; while :; do sleep 0.02; done");
  later.join();
  EXPECT_EQ(launched.ended.exit_status, 9);
}

TEST(Launch, PassesAnInterruptOnThatCameToItAlone) {
  std::thread later([] {
    std::this_thread::sleep_for(milliseconds(200));
    kill(getpid(), SIGINT);
  });
  const Launched launched = shell("trap 'exit 4' INT; while :; do sleep 0.02; done");
  later.join();
  EXPECT_EQ(launched.ended.exit_status, 4);
}

TEST(Launch, SamplesTheMemoryOfTheProgramAndItsChildren) {
  // 64 MB in a grandchild.
  const Launched launched =
      shell("sh -c 'x=$(head -c 64000000 /dev/zero | tr \"\\\\0\" x); sleep 0.2; : $x'; exit 0");
  std::int64_t peak = 0;
  std::int64_t last = 0;
  for (const RssSample& sample : launched.rss) {
    EXPECT_GT(sample.time_ns, last);
    EXPECT_GE(sample.time_ns, launched.ended.begin_ns);
    last = sample.time_ns;
    peak = std::max(peak, sample.bytes);
  }
  EXPECT_GT(peak, 60'000'000);
}

TEST(Launch, TheKernelCountsWhatLiesBetweenSamples) {
  const Launched launched =
      launch({"dd", "if=/dev/zero", "of=/dev/null", "bs=300M", "count=1", "status=none"}, {},
             std::chrono::seconds(10));
  ASSERT_TRUE(launched.kernel_peak_rss);
  EXPECT_GT(*launched.kernel_peak_rss, 300 << 20);
  for (const RssSample& sample : launched.rss) EXPECT_LT(sample.bytes, 300 << 20);
}

TEST(Launch, AProgramThatStaysAsItIsHasTwoSamples) {
  const Launched launched = launch({"sleep", "0.3"}, {}, milliseconds(2));
  EXPECT_GE(launched.rss.size(), 2U);
  EXPECT_LT(launched.rss.size(), 20U);
}

// Whose count a child begins with.
TEST(Launch, WhatTheLauncherItselfHadIsNotTheProgramsPeak) {
  EXPECT_FALSE(shell("exit 0").kernel_peak_rss);
}

TEST(Launch, CountsTheProcessorTimeOfChildrenToo) {
  const Launched launched = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
  EXPECT_GT(launched.ended.cpu_ns, 0);
  EXPECT_GT(launched.ended.end_ns, launched.ended.begin_ns);
}

TEST(EndLike, EndsTheSameWay) {
  Ended by_status;
  by_status.exit_status = 5;
  EXPECT_EXIT(end_like(by_status), testing::ExitedWithCode(5), "");
  Ended by_signal;
  by_signal.signal = SIGSEGV;
  EXPECT_EXIT(end_like(by_signal), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace fathom::record::launch_test
