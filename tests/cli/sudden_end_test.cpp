// Programs that end without a word: what they did until then is in the run.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/run_program.h"
#include "sanitized.h"

namespace fathom::cli::sudden_end_test {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kEnding = FATHOM_BINARY_DIR "/bin/ending_program";
constexpr const char* kOpencl = FATHOM_BINARY_DIR "/bin/opencl_program";

Outcome profile(const Scratch& scratch, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"profile", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return run_program(words, {.folder = scratch.path("")});
}

json run_of(const Scratch& scratch) {
  return json::parse(run_program({"report", "--json", scratch.path("run.pftrace")}).out);
}

std::map<std::string, int> scopes_of(const Scratch& scratch) {
  std::map<std::string, int> calls;
  const json run = run_of(scratch);
  for (const json& scope : run["session"]["scopes"]) {
    calls[scope["name"]] = scope["calls"];
  }
  return calls;
}

bool has_memory_files() {
  return access("/dev/shm", W_OK) == 0;
}

struct SuddenEnd {
  const char* how;
  int status = -1;
  int signal = 0;
};

void PrintTo(const SuddenEnd& one, std::ostream* out) {
  *out << one.how;
}

class SuddenEnds : public ::testing::TestWithParam<SuddenEnd> {};

// One scope, and many blocks of them.
TEST_P(SuddenEnds, EveryScopeUntilThenIsInTheRun) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  const SuddenEnd end = GetParam();
  for (const int scopes : {1, 60'000}) {
    const Scratch scratch;
    const Outcome outcome = profile(scratch, {kEnding, end.how, std::to_string(scopes)});
    EXPECT_EQ(outcome.status, end.status);
    EXPECT_EQ(outcome.signal, end.signal);
    const auto calls = scopes_of(scratch);
    EXPECT_EQ(calls.at("work"), scopes);
    EXPECT_EQ(calls.at("described"), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, SuddenEnds,
                         ::testing::Values(SuddenEnd{"_exit", 9}, SuddenEnd{"exec", 0},
                                           SuddenEnd{"abort", -1, SIGABRT},
                                           SuddenEnd{"term", -1, SIGTERM},
                                           SuddenEnd{"kill", -1, SIGKILL},
                                           SuddenEnd{"segv", -1, SIGSEGV}, SuddenEnd{"return", 0}),
                         [](const auto& end) {
                           std::string name = end.param.how;
                           std::erase(name, '_');
                           return name;
                         });

TEST(SuddenEnd, OfManyThreadsLosesNone) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  const Scratch scratch;
  profile(scratch, {kEnding, "kill", "5000", "4"});
  const auto calls = scopes_of(scratch);
  EXPECT_EQ(calls.at("work"), 4 * 5000);
  EXPECT_EQ(calls.at("described"), 4);
}

// Finished as the program knows it: clFinish has returned.
TEST(SuddenEnd, EveryKernelThatWasOverIsInTheRun) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  for (const char* const how : {"_exit-now", "kill-now", "segv-now"}) {
    const Scratch scratch;
    profile(scratch, {kOpencl, how});
    const json run = run_of(scratch);
    ASSERT_EQ(run["session"]["kernels"].size(), 1U) << how;
    EXPECT_EQ(run["session"]["kernels"][0]["calls"], 100) << how;
  }
}

// In the middle of everything, the writer's own work included: nothing is lost and nothing twice.
TEST(SuddenEnd, AKillAtAnyInstantKeepsWhatWasDone) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  // Before, in and after passes of the writer, which come every 20 ms and when there is much.
  for (const int microseconds : {300, 2'000, 19'900, 20'400, 50'000, 73'000}) {
    const Scratch scratch;
    const std::string counters = scratch.write("counters", std::string(4096, '\0'));
    EXPECT_EQ(profile(scratch, {kEnding, "racing", counters, std::to_string(microseconds)}).signal,
              SIGKILL);
    std::uint64_t counted[2];
    std::memcpy(counted, content_of(counters).data(), sizeof counted);
    const std::map<std::string, int> scopes = scopes_of(scratch);
    const std::uint64_t calls =
        scopes.contains("work") ? static_cast<std::uint64_t>(scopes.at("work")) : 0;
    EXPECT_GE(calls, counted[0] + counted[1]);
    EXPECT_LE(calls, counted[0] + counted[1] + 2) << "one per thread that is not counted yet";
  }
}

TEST(SuddenEnd, AForkedChildHasItsOwnScopesAndNotTheParents) {
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kEnding, "fork", "100"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto calls = scopes_of(scratch);
  EXPECT_EQ(calls.at("work"), 100);
  if (has_memory_files()) {
    EXPECT_EQ(calls.at("in the child"), 1);
  }
}

TEST(SuddenEnd, ChildrenForkedDuringTheVeryFirstScopeDoNotHang) {
#if defined(FATHOM_ADDRESS_SANITIZER)
  // Its threads allocate while others fork. glibc's allocator is whole in every child, the address
  // sanitizer's (Clang 14) is not: its locks stay locked where a thread held one, and a child that
  // allocates waits for ever, in programs without Fathom just as well.
  GTEST_SKIP() << "the address sanitizer's allocator does not survive a fork";
#endif
  for (int i = 0; i < 5; ++i) {
    const Scratch scratch;
    const Outcome outcome = profile(scratch, {"timeout", "20", kEnding, "forks", "0"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
}

TEST(SuddenEnd, AProgramMayRemoveItsParts) {
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {"sh", "-c", "rm -rf run.pftrace.parts-*; exit 4"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_TRUE(run_of(scratch)["session"]["scopes"].empty()) << outcome.err;
}

TEST(SuddenEnd, ADaemonThatClosesEverythingKeepsIt) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kEnding, "daemon", "1000"});
  EXPECT_EQ(outcome.status, 9);
  EXPECT_EQ(scopes_of(scratch).at("work"), 1001);
}

// Nobody, who may not open the part again: what comes then is kept in memory, for the launcher.
TEST(SuddenEnd, ADaemonThatGivesUpItsRightsKeepsIt) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  // A process that gave up its rights cannot be traced, which is how leaks are looked for at exit.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  for (const char* const how : {"drop", "drop-exit"}) {
    const Scratch scratch;
    const Outcome outcome = profile(scratch, {kEnding, how, "50000", "2"});
    EXPECT_EQ(outcome.status, how == std::string("drop") ? 9 : 0) << outcome.err;
    EXPECT_EQ(scopes_of(scratch).at("work"), 100'001) << how;
    EXPECT_EQ(outcome.err.find("reopened"), std::string::npos) << outcome.err;
  }
}

TEST(SuddenEnd, ALimitOnTheSizeOfFilesIsNoHarm) {
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kEnding, "limit", "60000"});
  EXPECT_EQ(outcome.status, 9) << outcome.err;
}

TEST(SuddenEnd, NothingIsLeftInMemory) {
  if (!has_memory_files()) GTEST_SKIP() << "no /dev/shm";
  const Scratch scratch;
  // Its own folder: tests that run beside it have theirs.
  const std::string line =
      std::string("printf %s \"$FATHOM_LIVE_FOLDER\"; exec ") + kEnding + " kill 10";
  const std::string folder = profile(scratch, {"sh", "-c", line}).out;
  ASSERT_TRUE(folder.starts_with("/dev/shm/")) << folder;
  ASSERT_EQ(folder.find_first_of(" \n"), std::string::npos) << folder;  // a name, and no more
  EXPECT_FALSE(fs::exists(folder)) << folder;
}

// A memory file system of a few pages, as a container may have it.
TEST(SuddenEnd, MemoryFilesThatAreFullAreNoHarm) {
  const Scratch scratch;
  const int scopes = kIsSanitized ? 20'000 : 200'000;  // per thread
  for (const char* const size : {"4k", "128k", "1m"}) {
    const std::string line = std::string("mount -t tmpfs -o size=") + size +
                             " none /dev/shm && exec " FATHOM_BINARY_DIR "/bin/fathom profile " +
                             "-o " + scratch.path("run.pftrace") + " -- " + kEnding + " return " +
                             std::to_string(scopes) + " 2 2> " + scratch.path("err");
    const int probe = system("unshare -m true 2> /dev/null");
    if (probe != 0) GTEST_SKIP() << "not root";
    const int status = system(("unshare -m sh -c '" + line + "'").c_str());
    EXPECT_EQ(status, 0) << size;
    EXPECT_EQ(scopes_of(scratch).at("work"), 2 * scopes) << size;
  }
}

}  // namespace fathom::cli::sudden_end_test
