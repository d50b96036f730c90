// What `./dev demo` shows: the matrix multiply of examples/, recorded on whatever OpenCL is here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::demo_test {

using nlohmann::json;

constexpr const char* kMatmul = FATHOM_BINARY_DIR "/bin/example_matmul";

std::int64_t ns(const json& ms) {
  return std::llround(ms.get<double>() * 1e6);
}

// Of a session, a scope of one, or an entry of a profile.
void expect_exact_parts(const json& of, const char* total) {
  ASSERT_TRUE(of.contains("gpu_time_ms") && of["gpu_time_ms"].is_number()) << of;
  EXPECT_EQ(ns(of["gpu_time_ms"]) + ns(of["transfer_time_ms"]) + ns(of["overhead_ms"]) +
                ns(of["cpu_time_ms"]),
            ns(of[total]))
      << of;
}

class Demo : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("POCL_CACHE_DIR", FATHOM_BINARY_DIR "/pocl-cache", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // PoCL and LLVM leave much behind
    std::filesystem::create_directories(FATHOM_BINARY_DIR "/pocl-cache");
    if (!std::filesystem::exists("/etc/OpenCL/vendors")) GTEST_SKIP() << "no OpenCL driver here";
  }
};

TEST_F(Demo, TellsOfTheIdleGapAndWhereEveryNanosecondWent) {
  const Scratch scratch;
  const Outcome outcome =
      run_program({"profile", "-o", scratch.path("run.pftrace"), "--json",
                   scratch.path("session.json"), "--", kMatmul, scratch.path("profile.json")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("correct"), std::string::npos);

  const json session = json::parse(content_of(scratch.path("session.json")));
  expect_exact_parts(session, "total_time_ms");
  EXPECT_EQ(session["kernels"][0]["name"], "matmul_tiled");
  EXPECT_EQ(session["kernels"][0]["calls"], 8);
  EXPECT_EQ(session["kernels"][0]["global_size"], "256x256");
  EXPECT_EQ(session["kernels"][0]["local_size"], "16x16");
  EXPECT_EQ(session["copies"], 7);
  EXPECT_EQ(session["copied_mb"], 7 * 0.25);
  EXPECT_EQ(session["builds"].size(), 1U);
  for (const json& scope : session["scopes"]) expect_exact_parts(scope, "total_time_ms");

  // Where the driver compiles at the first launch, that wait may be longer.
  const json& gaps = session["idle_gaps"];
  const auto gap = std::find_if(gaps.begin(), gaps.end(), [](const json& each) {
    return each["host"] == "prepare next batch";
  });
  ASSERT_NE(gap, gaps.end()) << gaps;
  EXPECT_GE((*gap)["duration_ms"], 250.0);
  EXPECT_NE(outcome.err.find("prepare next batch"), std::string::npos) << outcome.err;

  EXPECT_EQ(session["peak_memory_mb"], 1.0);
  EXPECT_EQ(session["allocated_memory_mb"], 0.25);
  EXPECT_NE(outcome.err.find("256 KB in 1 block was still allocated at the end of the "
                             "recording: clCreateBuffer in \"cache weights\"."),
            std::string::npos)
      << outcome.err;

  const json profile = json::parse(content_of(scratch.path("profile.json")));
  EXPECT_EQ(profile["entries"].size(), 15U);
  for (const json& entry : profile["entries"]) expect_exact_parts(entry, "duration_ms");
}

TEST_F(Demo, MemorySaysWhatWasAllocatedOutsideOfAnyScope) {
  const Scratch scratch;
  const Outcome outcome = run_program(
      {"memory", "-o", scratch.path("run.pftrace"), "--", kMatmul, scratch.path("profile.json")});
  EXPECT_NE(outcome.err.find("75.0 % of it from clCreateBuffer, outside any scope."),
            std::string::npos)
      << outcome.err;
}

TEST_F(Demo, ARunAsAProfileHasTheSplitOfEveryEntry) {
  const Scratch scratch;
  const std::string run = scratch.path("run.pftrace");
  ASSERT_EQ(run_program({"profile", "-o", run, "--", kMatmul}).status, 0);
  ASSERT_EQ(run_program({"convert", run, scratch.path("run.profile.json")}).status, 0);
  const json profile = json::parse(content_of(scratch.path("run.profile.json")));
  EXPECT_EQ(profile["entries"].size(), 15U);
  for (const json& entry : profile["entries"]) expect_exact_parts(entry, "duration_ms");
  EXPECT_GT(profile["summary"]["multiply"]["total_gpu_time_ms"], 0.0);
}

TEST_F(Demo, OpenclOfAForkedChildAndOfItsParentIsInOneRun) {
  const Scratch scratch;
  const Outcome outcome = run_program({"profile", "-o", scratch.path("run.pftrace"), "--json",
                                       scratch.path("session.json"), "--api", "--",
                                       FATHOM_BINARY_DIR "/bin/forking_program"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json session = json::parse(content_of(scratch.path("session.json")));
  ASSERT_EQ(session["kernels"].size(), 1U) << outcome.err;
  EXPECT_EQ(session["kernels"][0]["calls"], 5);
  EXPECT_EQ(session["kernels"][0]["global_size"], "several");
  EXPECT_EQ(session["builds"].size(), 2U);
  ASSERT_EQ(session["scopes"].size(), 3U);
  for (const json& scope : session["scopes"]) {
    expect_exact_parts(scope, "total_time_ms");
    EXPECT_EQ(scope["gpu_time_ms"] > 0.0, scope["name"] != "before the fork") << scope;
  }
  EXPECT_EQ(session["allocated_memory_mb"], 0.0);
}

// Started without `fathom profile`: the program asks for the recorder itself.
TEST_F(Demo, HasTheSameSplitFromInsideTheProgram) {
  const Scratch scratch;
  const std::string alone = scratch.path("alone.json");
  const std::string command = std::string(kMatmul) + " " + alone + " > " + scratch.path("out");
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): paths of our own
  const json profile = json::parse(content_of(alone));
  EXPECT_EQ(profile["entries"].size(), 15U);
  for (const json& entry : profile["entries"]) expect_exact_parts(entry, "duration_ms");
  for (const json& entry : profile["entries"]) {
    const std::string operation = entry["operation"];
    if (operation == "multiply") {
      EXPECT_GT(entry["gpu_time_ms"], 0.0);
    } else if (operation == "upload") {
      EXPECT_GT(entry["transfer_time_ms"], 0.0);
      EXPECT_GT(entry["memory_bandwidth_gb_s"], 0.0);
    } else if (operation == "cache weights") {
      EXPECT_EQ(entry["memory_allocated_mb"], 0.25);
    } else if (operation == "set up") {
      EXPECT_GT(entry["overhead_ms"], 0.0);
    } else if (operation == "prepare next batch") {
      EXPECT_EQ(entry["cpu_time_ms"], entry["duration_ms"]);
    }
  }
}

}  // namespace fathom::cli::demo_test
