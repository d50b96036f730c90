// `fathom profile` as people run it: what the program under it sees, and what is left behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_program.h"

namespace fathom::cli::profile_test {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kOpencl = FATHOM_BINARY_DIR "/bin/opencl_program";
constexpr const char* kScopes = FATHOM_BINARY_DIR "/bin/scoped_program";

std::vector<std::string> names_in(const Scratch& scratch) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(scratch.path(""))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Outcome profile(const Scratch& scratch, const std::vector<std::string>& command,
                std::vector<std::string> options = {}) {
  std::vector<std::string> words = {"profile"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return run_program(words, {.folder = scratch.path("")});
}

Outcome shell(const Scratch& scratch, const std::string& script,
              std::vector<std::string> options = {}) {
  return profile(scratch, {"sh", "-c", script}, std::move(options));
}

json report_of(const std::string& run) {
  return json::parse(run_program({"report", "--json", run}).out);
}

TEST(Profile, TheExitStatusIsTheProgramsOwn) {
  const Scratch scratch;
  EXPECT_EQ(shell(scratch, "exit 0").status, 0);
  EXPECT_EQ(shell(scratch, "exit 3").status, 3);
}

TEST(Profile, SaysLikeAShellThatACommandCannotBeRunAndLeavesNothing) {
  const Scratch scratch;
  const Outcome missing = profile(scratch, {"no-such-program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_NE(missing.err.find("no-such-program: cannot be run"), std::string::npos) << missing.err;
  const std::string text = scratch.write("text", "no program");
  EXPECT_EQ(profile(scratch, {text}).status, 126);
  EXPECT_EQ(profile(scratch, {text}, {"-o", "mine.pftrace"}).status, 126);
  EXPECT_EQ(names_in(scratch), std::vector<std::string>{"text"});
}

TEST(Profile, DeathBySignalIsPassedOnAndTheRunIsKept) {
  const Scratch scratch;
  const Outcome outcome = shell(scratch, "kill -SEGV $$");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_NE(outcome.err.find("killed by signal 11"), std::string::npos) << outcome.err;
  EXPECT_EQ(names_in(scratch), std::vector<std::string>{"run.pftrace"});
}

TEST(Profile, InputAndOutputAreTheProgramsByteForByte) {
  const Scratch scratch;
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  const std::string input = scratch.write("input", bytes);
  const Outcome outcome =
      run_program({"profile", "-o", scratch.path("run.pftrace"), "--", "cat"}, {.input = input});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, bytes);
}

TEST(Profile, OfAProgramThatDoesNothingSaysSoWithItsTimeAndWhy) {
  const Scratch scratch;
  const Outcome outcome = shell(scratch, "sleep 0.05");
  EXPECT_NE(outcome.err.find("No GPU work and no scopes were recorded"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("libOpenCL.so"), std::string::npos);
  const json run = report_of(scratch.path("run.pftrace"));
  EXPECT_GE(run["session"]["total_time_ms"].get<double>(), 50.0);
  EXPECT_TRUE(run["session"]["gpu_time_ms"].is_null());
  EXPECT_TRUE(run["session"]["recommendations"].empty());
  EXPECT_GT(run["session"]["peak_host_memory_mb"].get<double>(), 0.0);
}

// As a terminal does it: the whole process group gets the signal.
TEST(Profile, CtrlCStopsTheProgramAndKeepsTheRun) {
  const Scratch scratch;
  std::thread later;
  const Outcome outcome = run_program(
      {"profile", "--", "sh", "-c", "touch began; sleep 60; exit 9"},
      {.folder = scratch.path(""), .own_group = true, .started = [&](pid_t group) {
         later = std::thread([group, began = scratch.path("began")] {
           for (int tries = 0; tries < 6000 && !std::filesystem::exists(began); ++tries) {
             std::this_thread::sleep_for(std::chrono::milliseconds(10));
           }
           kill(-group, SIGINT);
         });
       }});
  later.join();
  EXPECT_EQ(outcome.signal, SIGINT) << outcome.err;
  EXPECT_EQ(report_of(scratch.path("run.pftrace"))["session"]["name"],
            "sh -c touch began; sleep 60; exit 9");
}

TEST(Profile, ChildrenAreInTheSameRunAndTheirOperationsTogether) {
  const Scratch scratch;
  const std::string child = std::string(kScopes) + " scopes 10";
  const Outcome outcome = shell(scratch, child + " & " + child + "; wait");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(names_in(scratch), std::vector<std::string>{"run.pftrace"});
  const json run = report_of(scratch.path("run.pftrace"));
  ASSERT_EQ(run["recorded_statistics"].size(), 1U);
  EXPECT_EQ(run["recorded_statistics"][0]["calls"], 20);
  ASSERT_EQ(run["session"]["scopes"].size(), 1U);
  EXPECT_EQ(run["session"]["scopes"][0]["calls"], 20);
}

TEST(Profile, AProgramThatReplacesItselfIsRecordedInBothLives) {
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kScopes, "exec", "7"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json run = report_of(scratch.path("run.pftrace"));
  EXPECT_EQ(run["session"]["scopes"][0]["calls"], 14);
}

// In Unix time, and to the nanosecond on one clock.
TEST(Profile, TimesOfSeveralProcessesLineUp) {
  const Scratch scratch;
  const auto now_us = [] {
    return std::chrono::duration<double, std::micro>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const double before = now_us();
  EXPECT_EQ(profile(scratch, {kScopes, "nested", "3"}).status, 0);
  const double after = now_us();
  run_program({"convert", scratch.path("run.pftrace"), scratch.path("run.json")});
  const json trace = json::parse(content_of(scratch.path("run.json")));
  const double base = trace["baseTimeNanoseconds"].get<double>() / 1e3;
  json outer;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "around the child") outer = event;
  }
  ASSERT_FALSE(outer.is_null());
  int inside = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["name"] != "work") continue;
    ++inside;
    EXPECT_NE(event["pid"], outer["pid"]);
    EXPECT_GE(event["ts"].get<double>(), outer["ts"].get<double>());
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(),
              outer["ts"].get<double>() + outer["dur"].get<double>());
  }
  EXPECT_EQ(inside, 3);
  EXPECT_GE(base + outer["ts"].get<double>(), before - 1000);
  EXPECT_LE(base + outer["ts"].get<double>(), after + 1000);
}

TEST(Profile, TwoAtOnceInOneFolderHaveARunEach) {
  const Scratch scratch;
  std::vector<std::thread> both;
  for (int i = 0; i < 2; ++i) {
    both.emplace_back([&] { EXPECT_EQ(shell(scratch, "sleep 0.3").status, 0); });
  }
  for (std::thread& each : both) each.join();
  EXPECT_EQ(names_in(scratch), (std::vector<std::string>{"run-2.pftrace", "run.pftrace"}));
}

// What it records while the program lives stays in a file beside the run; if it begins later, in
// the folder of the run's parts.
TEST(Profile, AChildThatOutlivesTheProgramLosesNothing) {
  const Scratch scratch;
  const std::string script = std::string("( ") + kScopes + " slow 1000 >/dev/null 2>&1 & ) ; " +
                             "( sleep 0.7; " + kScopes +
                             " scopes 5; touch done ) >/dev/null 2>&1 & sleep 0.4";
  const Outcome outcome = shell(scratch, script);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("a child process is still writing to this file"), std::string::npos)
      << outcome.err;
  for (int i = 0; i < 200 && !fs::exists(scratch.path("done")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::uint64_t calls = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path(""))) {
    if (entry.path().extension() != ".pftrace") continue;
    const json report = report_of(entry.path().string());
    for (const json& scope : report["session"]["scopes"]) {
      calls += scope["calls"].get<std::uint64_t>();
    }
  }
  EXPECT_EQ(calls, 1U + 5U);
}

TEST(Profile, RepeatedRunsHaveAFileEachAndASummary) {
  const Scratch scratch;
  const Outcome outcome = shell(scratch, "exit 0", {"--repeat", "3"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(names_in(scratch),
            (std::vector<std::string>{"run-1.pftrace", "run-2.pftrace", "run-3.pftrace"}));
  EXPECT_NE(outcome.err.find("3 runs"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("median"), std::string::npos);
}

TEST(Profile, OneRunOfSeveralThatFailsIsNoSummary) {
  const Scratch scratch;
  const Outcome outcome = shell(scratch, "exit 4", {"--repeat", "3"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.err.find("median"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("1 run,"), std::string::npos) << outcome.err;
}

TEST(Profile, JsonIsTheSessionInAFileOrInPlaceOfTheText) {
  const Scratch scratch;
  shell(scratch, "exit 0", {"--json", "session.json"});
  const json in_file = json::parse(content_of(scratch.path("session.json")));
  EXPECT_EQ(in_file["name"], "sh -c exit 0");
  EXPECT_EQ(in_file["trace_path"], "run.pftrace");
  const Outcome alone = shell(scratch, "echo out", {"--json"});
  EXPECT_EQ(alone.out, "out\n");
  EXPECT_EQ(json::parse(alone.err)["trace_path"], "run-2.pftrace");
}

TEST(Profile, ABuildThatFailsIsInTheTextWithWhatTheCompilerSaid) {
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // PoCL leaves much behind when a build fails
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kOpencl, "failed-build"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("clBuildProgram failed with error -11"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("this_is_not_declared"), std::string::npos) << outcome.err;
  const json session = report_of(scratch.path("run.pftrace"))["session"];
  EXPECT_LE(session["total_build_ms"], session["total_time_ms"])
      << "the build in the background and the call that waits for it are one time";
}

TEST(Profile, SaysWhichCallsFailedAndHowOften) {
  const Scratch scratch;
  const Outcome outcome = profile(scratch, {kOpencl, "failed-enqueue"});
  EXPECT_NE(outcome.err.find("\n  clEnqueueReadBuffer failed 1 time with error -30\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("\n  clEnqueueNDRangeKernel failed 1 time with error -36\n"),
            std::string::npos)
      << outcome.err;
  const json calls = report_of(scratch.path("run.pftrace"))["session"]["failed_calls"];
  EXPECT_EQ(calls.size(), 4U) << calls;
  const Outcome thrown = profile(scratch, {kScopes, "throws", "3"}, {"-o", "thrown.pftrace"});
  EXPECT_NE(thrown.err.find("\n  work: 3 of 5 calls ended by an exception\n"), std::string::npos)
      << thrown.err;
}

}  // namespace fathom::cli::profile_test
