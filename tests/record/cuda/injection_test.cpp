// The whole recorder but the profiler library, in programs of its own: against fake_cupti.h, and
// against this machine's real libcupti where it has no driver.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "record/cuda/driver_check.h"

namespace fathom::record::cuda::injection_test {

struct Outcome {
  int status = -1;  // of exit; 128 + the signal where one ended it
  std::string out;
  std::string err;
  std::vector<std::string> recorded;  // lines of printing_link.cpp

  std::size_t count(const std::string& start) const {
    std::size_t found = 0;
    for (const std::string& line : recorded) found += line.starts_with(start) ? 1 : 0;
    return found;
  }
};

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

Outcome run(const std::string& program, const std::string& story, const std::string& cupti,
            const std::string& behaviour = "") {
  std::string folder = (std::filesystem::temp_directory_path() / "fathom-cuda-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::string line = "exec env PRINT_TO=" + folder + "/recorded FATHOM_CUPTI='" + cupti +
                           "' FAKE_CUPTI='" + behaviour + "' " + program + " '" + story + "' >" +
                           folder + "/out 2>" + folder + "/err";
  const int status = std::system(line.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                  content_of(folder + "/out"),
                  content_of(folder + "/err"),
                  {}};
  std::istringstream recorded(content_of(folder + "/recorded"));
  for (std::string each; std::getline(recorded, each);) outcome.recorded.push_back(each);
  std::filesystem::remove_all(folder);
  return outcome;
}

Outcome tell(const std::string& story, const std::string& behaviour = "") {
  return run(CUDA_PROGRAM, story, FAKE_CUPTI, behaviour);
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Injection, RecordsEverythingByTheTimeTheProgramHasEndedAndSaysNothing) {
  const Outcome outcome = tell("launches");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.count("alone scope 0 correlation 1 "), 1U);
  EXPECT_EQ(outcome.count("scoped(int) scope 5 correlation 2 "), 1U);
  EXPECT_EQ(outcome.count("node scope 6 correlation 3 "), 544U);
  EXPECT_EQ(outcome.count("memory 4096 scope 6"), 1U);
  EXPECT_EQ(outcome.count("cudaLaunchKernel scope 0 correlation 1 "), 1U);
  EXPECT_EQ(outcome.count("cudaLaunchKernel scope 5 correlation 2 "), 1U);
  EXPECT_EQ(outcome.count("cudaGraphLaunch scope 6 "), 1U);
  EXPECT_EQ(outcome.count("cudaMalloc scope 6 "), 1U);
  EXPECT_EQ(outcome.recorded.size(), 1U + 1 + 544 + 1 + 4);
}

TEST(Injection, CallsThatOnlyAskAreRecordedWithoutACallback) {
  const Outcome outcome = tell("polling");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.count("cudaEventQuery "), 1000U);
}

TEST(Injection, AKilledProgramLosesLessThanItsLastSecond) {
  const Outcome outcome = tell("killed");
  EXPECT_EQ(outcome.status, 128 + SIGKILL);
  EXPECT_EQ(outcome.count("long ago "), 1U);
}

TEST(Injection, WhatADeviceDidIsTakenBeforeItIsReset) {
  EXPECT_EQ(tell("reset").count("before the reset "), 1U);
}

TEST(Injection, LaunchesOfFourThreadsAreAllThereWithTheirScopes) {
  const Outcome outcome = tell("threads");
  EXPECT_EQ(outcome.status, 0);
  for (const char* each : {"1", "2", "3", "4"}) {
    EXPECT_EQ(outcome.count(std::string("on_") + each + " scope " + each + " "), 5000U);
  }
  EXPECT_EQ(outcome.recorded.size(), 40'000U);
}

TEST(Injection, AChildOfForkEndsAsItWouldAndTheParentGoesOn) {
  // The leak check of the child looks for the parent's threads, and says so where it finds them.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const Outcome outcome = tell("fork");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.count("before "), 1U);
  EXPECT_EQ(outcome.count("after "), 1U);
}

TEST(Injection, ADestructorThatLaunchesAfterTheLastFlushIsSafe) {
  const Outcome outcome = tell("after main");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(Injection, ACuptiThatNeverReturnsDoesNotKeepTheProgram) {
  const Outcome outcome = tell("launches", "hang");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("did not return"), std::string::npos) << outcome.err;
}

TEST(Injection, TimesAreOnOurClockWhenCuptiKeepsItsOwn) {
  for (const char* clock : {"", "clock"}) {
    const Outcome outcome = tell("clock", clock);
    std::istringstream around(outcome.out);
    long long before = 0;
    long long after = 0;
    around >> before >> after;
    ASSERT_EQ(outcome.count("now "), 1U);
    for (const std::string& line : outcome.recorded) {
      if (!line.starts_with("now ")) continue;
      const long long at = std::stoll(line.substr(line.find(" at ") + 4));
      constexpr long long kMillisecond = 1'000'000;  // a reading of two clocks may be interrupted
      EXPECT_GE(at, before - kMillisecond);
      EXPECT_LE(at, after + kMillisecond);
    }
  }
}

TEST(Injection, DroppedRecordsAreCounted) {
  const Outcome outcome = tell("launches", "drop");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("3 records dropped by CUPTI"), std::string::npos) << outcome.err;
}

TEST(Injection, WithAnotherProfilerAttachedWhatIsLeftIsRecorded) {
  const Outcome outcome = tell("launches", "busy");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("recorded in part"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("another profiler"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.count("scoped(int) scope 0 "), 1U);
}

TEST(Injection, RefusalOfEverythingIsOneLine) {
  const Outcome outcome = tell("nothing", "refuse");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("fathom: CUDA: not recorded: ")) << outcome.err;
}

TEST(Injection, WithoutCuptiTheProgramRunsAndOneLineSaysWhy) {
  const Outcome outcome = run(CUDA_PROGRAM, "nothing", "/nowhere/libcupti.so");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("libcupti.so not found"), std::string::npos) << outcome.err;
}

TEST(Injection, ALibraryThatIsNoCuptiIsRecognised) {
  const Outcome outcome = run(CUDA_PROGRAM, "nothing", "libm.so.6");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
}

TEST(Injection, TheRealCuptiWithoutADriverIsOneLineThatNamesTheDriver) {
  if (check_cuda_driver().found) GTEST_SKIP() << "this machine has a driver";
  const Outcome outcome = run(CUDA_PROGRAM, "nothing", "");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("no NVIDIA driver"), std::string::npos) << outcome.err;
}

}  // namespace fathom::record::cuda::injection_test
