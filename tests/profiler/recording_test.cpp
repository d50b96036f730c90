#include <fathom/fathom.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "profiler/run_file_decoder.h"

namespace fathom::recording_test {

using namespace std::chrono_literals;

class Recordings : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "fathom_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    profiler().configure({});
  }
  void TearDown() override {
    profiler().stop_recording();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name = "run.pftrace") const { return folder_ + "/" + name; }

  // Starts the child program with FATHOM_RUN_FILE set.
  pid_t start_child(const std::string& what, const std::string& argument = "") {
    std::string program = FATHOM_BINARY_DIR "/bin/profiler_child";
    std::string first = what;
    std::string second = argument;
    char* argv[] = {program.data(), first.data(), second.data(), nullptr};
    std::string variable = "FATHOM_RUN_FILE=" + path();
    // The child of a fork starts threads, which the thread sanitizer refuses unless told.
    std::string sanitizer = "TSAN_OPTIONS=die_after_fork=0";
    char* environment[] = {variable.data(), sanitizer.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, argv, environment), 0);
    return child;
  }
  int run_child(const std::string& what) {
    int status = 0;
    waitpid(start_child(what), &status, 0);
    return status;
  }

  std::string folder_;
};

void inner() {
  FATHOM_SCOPE("inner");
}
void outer() {
  FATHOM_SCOPE("outer");
  inner();
  inner();
}

TEST_F(Recordings, HoldEveryScopeOfEveryThread) {
  ASSERT_TRUE(profiler().start_recording(path()));
  constexpr int kCalls = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < kCalls; ++j) outer();
      });
    }
  }
  outer();
  profiler().stop_recording();
  const DecodedRun run = decode_run(path());
  EXPECT_FALSE(run.cut);
  EXPECT_EQ(run.dropped_scopes, 0U);
  EXPECT_EQ(run.begun("outer"), 4U * kCalls + 1);
  EXPECT_EQ(run.begun("inner"), 8U * kCalls + 2);
  EXPECT_EQ(run.thread_tracks.size(), 5U);
  EXPECT_EQ(run.operations.at("outer").calls, 4U * kCalls + 1);
  for (const auto& [id, sequence] : run.sequences) {
    for (const auto& [track, open] : sequence.open) EXPECT_TRUE(open.empty());
    for (const DecodedSlice& slice : sequence.slices) {
      ASSERT_EQ(slice.depth, slice.name == "outer" ? 0U : 1U);
      ASSERT_LE(slice.begin_ns, slice.end_ns);
    }
  }
}

TEST_F(Recordings, TellTheSameTimesAsTheStatistics) {
  ASSERT_TRUE(profiler().start_recording(path()));
  for (int i = 0; i < 20; ++i) {
    FATHOM_SCOPE("pause");
    std::this_thread::sleep_for(1ms);
  }
  profiler().stop_recording();
  const DecodedRun run = decode_run(path());
  std::int64_t total = 0;
  for (const DecodedSlice& slice : run.slices("pause")) total += *slice.end_ns - slice.begin_ns;
  const double expected = *profiler().summary().at("pause").total_ns;
  EXPECT_NEAR(static_cast<double>(total) / expected, 1, 1e-3);
  EXPECT_NEAR(static_cast<double>(run.operations.at("pause").total_ns) / expected, 1, 1e-3);
}

TEST_F(Recordings, StartAndStopInTheMiddleOfScopes) {
  {
    FATHOM_SCOPE("around");
    profiler().start_recording(path());
    inner();
    profiler().stop_recording();
    inner();
    profiler().start_recording(path("second.pftrace"));
    inner();
  }
  profiler().stop_recording();
  const DecodedRun first = decode_run(path());
  EXPECT_EQ(first.begun("inner"), 1U);
  EXPECT_EQ(first.begun("around"), 1U);
  EXPECT_FALSE(first.slices("around")[0].end_ns.has_value());
  const DecodedRun second = decode_run(path("second.pftrace"));
  EXPECT_EQ(second.begun("inner"), 1U);
  EXPECT_TRUE(second.slices("around").at(0).end_ns.has_value());
}

TEST_F(Recordings, KeepAttributesAndExceptions) {
  profiler().start_recording(path());
  try {
    Scope scope = profiler().profile("load", {.attributes = {{"file", "a.bin"}}});
    scope.attribute({"rows", 17});
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  profiler().stop_recording();
  const DecodedSlice slice = decode_run(path()).slices("load").at(0);
  EXPECT_NE(slice.begin_annotations.find("a.bin"), std::string::npos);
  EXPECT_NE(slice.end_annotations.find("rows"), std::string::npos);
  EXPECT_NE(slice.end_annotations.find("failed"), std::string::npos);
}

TEST_F(Recordings, SurviveAResetAndManyNames) {
  profiler().start_recording(path());
  inner();
  profiler().reset();
  inner();
  for (int i = 0; i < 70'000; ++i) {
    const Scope scope = profiler().profile("recorded " + std::to_string(i));
  }
  profiler().stop_recording();
  const DecodedRun run = decode_run(path());
  EXPECT_EQ(run.begun("inner"), 2U);
  EXPECT_EQ(run.begun("recorded 69999"), 1U);
  EXPECT_EQ(run.operations.at("inner").calls, 1U);
}

TEST_F(Recordings, HoldGpuActivities) {
  profiler().start_recording(path());
  for (int i = 0; i < 3; ++i) {  // overlapping, so on a lane each
    FATHOM_SCOPE("launch");
    GpuActivity kernel;
    kernel.name = "sgemm";
    kernel.queue = 7;
    kernel.correlation = 42 + i;
    kernel.scope = profiler().innermost_scope();
    kernel.start_ns = now_ns();
    kernel.end_ns = kernel.start_ns + 1'000'000'000;
    profiler().record(kernel);
    profiler().record(MemoryRecord{now_ns(), 1000, 0, {}, kernel.scope});
  }
  profiler().stop_recording();
  const DecodedRun run = decode_run(path());
  EXPECT_EQ(run.named_tracks.size(), 4U);  // three lanes, memory in use
  EXPECT_EQ(run.begun("launch"), 3U);
  EXPECT_EQ(run.begun("sgemm"), 3U);
  for (const DecodedSlice& slice : run.slices("sgemm")) {
    EXPECT_EQ(*slice.end_ns - slice.begin_ns, 1'000'000'000);
    EXPECT_EQ(slice.depth, 0U);
  }
  EXPECT_NE(run.slices("launch").at(0).end_annotations.find("scope"), std::string::npos);
}

TEST_F(Recordings, ThatCannotBeWrittenAreRefused) {
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(profiler().start_recording("/nowhere/run.pftrace"));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("/nowhere/run.pftrace"),
            std::string::npos);
  inner();
  EXPECT_EQ(profiler().summary().at("inner").calls, 1U);
}

TEST_F(Recordings, NeverWaitForASlowDiskAndCountWhatThatCosts) {
  constexpr std::uint64_t kScopes = 6'000'000;  // half as much again as may wait
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::atomic<bool> slow = true;
  std::uint64_t bytes = 0;
  std::thread disk([&] {
    const int fd = open(path().c_str(), O_RDONLY);
    slow.wait(true);
    std::array<char, 65536> buffer;
    for (ssize_t size = 0; (size = read(fd, buffer.data(), buffer.size())) > 0;) bytes += size;
    close(fd);
  });
  profiler().start_recording(path());
  for (std::uint64_t i = 0; i < kScopes; ++i) {
    FATHOM_SCOPE("rush");
  }
  slow = false;
  slow.notify_one();
  profiler().stop_recording();
  disk.join();
  EXPECT_EQ(profiler().summary().at("rush").calls, kScopes);
  const std::uint64_t dropped = profiler().drops().recorded_scopes;
  EXPECT_GT(dropped, 0U);  // how many depends on how soon the disk is quick again
  EXPECT_LT(dropped, kScopes);
  EXPECT_GT(bytes, (kScopes - dropped) * 4);  // what was not dropped is there
}

TEST_F(Recordings, OfAnEnvironmentVariableHoldStaticConstructorsAndDestructors) {
  EXPECT_EQ(run_child("plain"), 0);
  const DecodedRun run = decode_run(path());
  EXPECT_EQ(run.begun("in a static constructor"), 1U);
  EXPECT_EQ(run.begun("in main"), 1U);
  EXPECT_EQ(run.begun("in a static destructor"), 1U);
  EXPECT_NE(run.command.find("profiler_child plain"), std::string::npos);
}

TEST_F(Recordings, AreNotTouchedByAForkedChild) {
#if defined(FATHOM_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer cannot follow threads that a forked child starts";
#endif
  EXPECT_EQ(run_child("fork"), 0);
  const DecodedRun run = decode_run(path());
  EXPECT_FALSE(run.cut);
  EXPECT_EQ(run.begun("before the fork"), 1U);
  EXPECT_EQ(run.begun("after the fork"), 1U);
  EXPECT_EQ(run.begun("in the child"), 0U);
  // The child has a file of its own beside it.
  std::size_t others = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path() == path()) continue;
    EXPECT_EQ(decode_run(file.path().string()).begun("in the child"), 1U);
    ++others;
  }
  EXPECT_EQ(others, 1U);
}

TEST_F(Recordings, OfAKilledProgramHoldAllUpToTheLastSecond) {
  const std::string counters_path = path("counters");
  const int fd = open(counters_path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  const auto* const counters = static_cast<std::atomic<std::uint64_t>*>(page);
  const auto count = [&] {
    return std::accumulate(counters, counters + 4, std::uint64_t{0},
                           [](std::uint64_t sum, const auto& each) { return sum + each.load(); });
  };

  const pid_t child = start_child("threads", counters_path);
  std::this_thread::sleep_for(700ms);
  const std::uint64_t a_second_before = count();
  std::this_thread::sleep_for(1s);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const std::uint64_t at_the_end = count();
  munmap(page, 4096);

  const DecodedRun run = decode_run(path());
  EXPECT_GT(a_second_before, 0U);
  EXPECT_GE(run.begun("counted"), a_second_before);
  EXPECT_LE(run.begun("counted"), at_the_end + 4);
  EXPECT_EQ(run.begun("never ends"), 4U);
  for (const DecodedSlice& slice : run.slices("never ends")) EXPECT_FALSE(slice.end_ns);
  EXPECT_EQ(run.thread_tracks.size(), 5U);
}

// A program that closes descriptors it does not know, and has files of its own under their numbers.
class ClosedDescriptors : public Recordings, public ::testing::WithParamInterface<const char*> {};

TEST_P(ClosedDescriptors, NothingIsWrittenIntoTheProgramsOwnFilesAndTheRecordingGoesOn) {
#if defined(FATHOM_THREAD_SANITIZER)
  GTEST_SKIP() << "closing what another thread uses is the race that the test is about";
#endif
  const std::string own = path("own");
  int status = 0;
  waitpid(start_child(GetParam(), own), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::ifstream file(own);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "own");
  const DecodedRun run = decode_run(path());
  EXPECT_FALSE(run.cut);
  EXPECT_EQ(run.begun("counted"), 300U);
}

INSTANTIATE_TEST_SUITE_P(Ways, ClosedDescriptors, ::testing::Values("closing", "taking"));

// How a process may end of which nobody is told. What it did a tenth of a second before is kept.
class EndsWithoutAWord : public Recordings, public ::testing::WithParamInterface<const char*> {};

TEST_P(EndsWithoutAWord, KeepsWhatWasDoneShortlyBefore) {
  int status = 0;
  waitpid(start_child("leaving", GetParam()), &status, 0);
  const DecodedRun run = decode_run(path());
  EXPECT_FALSE(run.cut);
  EXPECT_EQ(run.begun("counted"), std::string_view(GetParam()) == "quick_exit" ? 200U : 100U);
}

INSTANTIATE_TEST_SUITE_P(Ways, EndsWithoutAWord,
                         ::testing::Values("_exit", "exec", "abort", "term", "kill", "quick_exit"));

}  // namespace fathom::recording_test
