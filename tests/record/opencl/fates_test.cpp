// How programs end while they are recorded. Each fate a few times, because what goes wrong at exit
// seldom does so the first time; FATHOM_FATE_RUNS=100 for as many as are promised.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "record/opencl/recorded.h"
#include "trace/read.h"

namespace fathom::record::fates_test {

using trace::SpanKind;

struct Fate {
  const char* mode;
  const char* kernel;
  std::size_t at_least;  // recorded of it: what was over a second before the end
  std::size_t at_most;   // enqueued
};

void PrintTo(const Fate& fate, std::ostream* out) {
  *out << fate.mode;
}

int fate_runs() {
  const char* const text = std::getenv("FATHOM_FATE_RUNS");
  return text == nullptr ? 3 : std::atoi(text);
}

class OpenclFate : public ::testing::TestWithParam<Fate> {};

TEST_P(OpenclFate, IsTheProgramsOwnAndTheRunHoldsWhatWasOver) {
  const Fate fate = GetParam();
  const Ran alone = run({opencl_program(), fate.mode});
  for (int i = 0; i < fate_runs(); ++i) {
    const Recorded recorded = run_recorded({opencl_program(), fate.mode});
    EXPECT_EQ(recorded.ran.out, alone.out);
    EXPECT_EQ(recorded.ran.status, alone.status);
    ASSERT_EQ(recorded.runs.size(), 1U);
    const std::size_t kernels = items_of(recorded.runs[0], SpanKind::kernel, fate.kernel).size();
    EXPECT_GE(kernels, fate.at_least);
    EXPECT_LE(kernels, fate.at_most);
  }
}

// Nothing is promised about the last second of a program that does not get to leave.
INSTANTIATE_TEST_SUITE_P(
    Fates, OpenclFate,
    ::testing::Values(Fate{"segv", "twice", 100, 100}, Fate{"_exit", "twice", 100, 100},
                      Fate{"kill", "twice", 100, 100}, Fate{"segv-now", "twice", 0, 100},
                      Fate{"_exit-now", "twice", 0, 100}, Fate{"kill-now", "twice", 0, 100},
                      Fate{"in-flight", "slow", 0, 200},
                      Fate{"static-destructor", "twice", 100, 101}),
    [](const auto& fate) {
      std::string name = fate.param.mode;
      std::erase(name, '_');
      std::erase(name, '-');
      return name;
    });

// Under `fathom profile`, where all that was waited for is promised, however suddenly it ends.
class ProfiledFate : public OpenclFate {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "fathom-fate-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_P(ProfiledFate, IsTheProgramsOwnAndTheRunHoldsAllThatWasOver) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  const Fate fate = GetParam();
  const std::string file = folder_ + "/run.pftrace";
  const Ran alone = run({opencl_program(), fate.mode});
  for (int i = 0; i < fate_runs(); ++i) {
    const Ran recorded = run({FATHOM_BINARY_DIR "/bin/fathom", "profile", "-o", file, "--",
                              opencl_program(), fate.mode});
    EXPECT_EQ(recorded.out, alone.out);
    EXPECT_EQ(WIFSIGNALED(recorded.status), WIFSIGNALED(alone.status));
    EXPECT_EQ(WTERMSIG(recorded.status), WTERMSIG(alone.status));
    EXPECT_EQ(WEXITSTATUS(recorded.status), WEXITSTATUS(alone.status));
    const trace::Trace trace = trace::read_trace(file);
    const std::size_t kernels = items_of(trace, SpanKind::kernel, fate.kernel).size();
    EXPECT_GE(kernels, fate.at_least);
    EXPECT_LE(kernels, fate.at_most);
  }
}

INSTANTIATE_TEST_SUITE_P(Fates, ProfiledFate,
                         ::testing::Values(Fate{"segv-now", "twice", 100, 100},
                                           Fate{"_exit-now", "twice", 100, 100},
                                           Fate{"kill-now", "twice", 100, 100},
                                           Fate{"static-destructor", "twice", 100, 101}),
                         [](const auto& fate) {
                           std::string name = fate.param.mode;
                           std::erase(name, '_');
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace fathom::record::fates_test
