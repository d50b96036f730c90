#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::hta_test {

// A rank whose all-reduce begins `late` µs after the kernel.
std::string rank_trace(int rank, int late) {
  const std::string number = std::to_string(rank);
  const std::string start = std::to_string(200 + late);
  const std::string duration = std::to_string(100 - late);
  return R"({"distributedInfo": {"rank": )" + number + R"(, "world_size": 2}, "traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 5,
   "args": {"correlation": 7}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 170, "dur": 5,
   "args": {"correlation": 8}},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": )" +
         number + R"(, "tid": 7, "ts": 60, "dur": 100,
   "args": {"correlation": 7, "stream": 7, "device": )" +
         number + R"(}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": )" +
         number + R"(, "tid": 8, "ts": )" + start + R"(, "dur": )" + duration +
         R"(, "args": {"correlation": 8, "stream": 8, "device": )" + number + "}}\n]}";
}

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "hta");
  arguments.emplace_back("--json");
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(Hta, TextTellsTheStoryOfARank) {
  const Scratch scratch;
  const Outcome text = run_program({"hta", scratch.write("trace.json", rank_trace(1, 0))});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_NE(
      text.out.find("The GPU computed 34.5 % of 290.0 µs; the largest loss is 34.5 % exposed"),
      std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("all-reduce (1 call, 100.0 µs)"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("rank 1 of 2"), std::string::npos) << text.out;
}

TEST(Hta, JsonHasTheFiguresOfEachRank) {
  const Scratch scratch;
  const nlohmann::json json = json_of({scratch.write("trace.json", rank_trace(1, 0))});
  ASSERT_EQ(json["ranks"].size(), 1U);
  const nlohmann::json& rank = json["ranks"][0];
  EXPECT_EQ(rank["rank"], 1);
  EXPECT_EQ(rank["world_size"], 2);
  EXPECT_EQ(rank["device"], 1);
  EXPECT_EQ(rank["temporal"]["total_ns"], 240'000);
  EXPECT_EQ(rank["temporal"]["compute_ns"], 100'000);
  EXPECT_EQ(rank["temporal"]["non_compute_ns"], 100'000);
  EXPECT_EQ(rank["idle_device"]["host_wait_ns"], 40'000);
  // From the first launch on: the 50 µs before the first kernel are idle time, too.
  const nlohmann::json& run = rank["run"];
  EXPECT_EQ(run["basis"], "activity");
  EXPECT_EQ(run["wall_ns"], 290'000);
  EXPECT_EQ(run["compute_ns"], 100'000);
  EXPECT_EQ(run["exposed_communication_ns"], 100'000);
  EXPECT_EQ(run["exposed_copy_ns"], 0);
  EXPECT_EQ(run["idle_ns"], 90'000);
  EXPECT_EQ(run["idle_causes"][0]["cause"], "launch");
  EXPECT_NEAR(json["run_compute_pct"].get<double>(), 100.0 * 100 / 290, 1e-9);
  EXPECT_EQ(faults_against("run", run), std::vector<std::string>{});
  EXPECT_TRUE(json["headline"].get<std::string>().starts_with("The GPU computed 34.5 %"));
  EXPECT_EQ(rank["launches"]["count"], 2);
  EXPECT_EQ(rank["launches"]["launch_delay_ns"], 70'000);
  EXPECT_EQ(rank["comm_comp_overlap_pct"], 0);
  EXPECT_EQ(rank["critical_path"]["total_ns"], 290'000);
  EXPECT_NEAR(json["gpu_idle_time_pct"].get<double>(), 100.0 / 6, 1e-9);
  EXPECT_EQ(json["top_kernels"].size(), 2U);
  EXPECT_EQ(json["bottlenecks"][0]["what"], "communication");
  EXPECT_FALSE(json["recommendations"].empty());
  EXPECT_TRUE(json["rank_comparison"].is_null());
}

TEST(Hta, EveryFieldThatTheSchemaRequiresIsThere) {
  const Scratch scratch;
  const nlohmann::json json = json_of({scratch.write("trace.json", rank_trace(0, 0))});
  const nlohmann::json schema =
      nlohmann::json::parse(content_of(FATHOM_SOURCE_DIR "/docs/hta.schema.json"));
  for (const auto& name : schema["required"]) EXPECT_TRUE(json.contains(name)) << name;
  const nlohmann::json& rank = schema["$defs"]["rank"];
  for (const auto& name : rank["required"]) EXPECT_TRUE(json["ranks"][0].contains(name)) << name;
  for (const auto& [name, value] : json["ranks"][0].items()) {
    EXPECT_TRUE(rank["properties"].contains(name)) << name;
  }
}

TEST(Hta, FilesOrADirectoryAreTheRanksOfOneJob) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("job"));
  const std::string second = scratch.write("job/b.json", rank_trace(1, 60));
  const std::string first = scratch.write("job/c.json", rank_trace(0, 0));
  scratch.write("job/notes.txt", "not looked at");
  const nlohmann::json from_files = json_of({second, first});
  ASSERT_EQ(from_files["ranks"].size(), 2U);
  EXPECT_EQ(from_files["ranks"][0]["rank"], 0);
  EXPECT_EQ(from_files["rank_comparison"]["ranks"].size(), 2U);
  EXPECT_EQ(json_of({scratch.path("job")}), from_files);

  const Outcome text = run_program({"hta", scratch.path("job")});
  EXPECT_NE(text.out.find("2 ranks"), std::string::npos) << text.out;
}

TEST(Hta, AFileThatIsNamedTwiceIsRefused) {
  const Scratch scratch;
  const std::string file = scratch.write("a.json", rank_trace(0, 0));
  const Outcome outcome = run_program({"hta", file, scratch.path("./a.json")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("a.json: named twice"), std::string::npos) << outcome.err;
}

TEST(Hta, FilesWithoutARankAreNumbered) {
  const Scratch scratch;
  const auto kernel = [](const std::string& duration) {
    return R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":)" + duration +
           R"(,"args":{"stream":7,"device":0}}])";
  };
  const Outcome outcome = run_program(
      {"hta", scratch.write("a.json", kernel("10")), scratch.write("b.json", kernel("20"))});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("file 1"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("file 2"), std::string::npos) << outcome.out;
}

TEST(Hta, WhatIsNoTraceInADirectoryIsNamedAndLeftOut) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("job"));
  scratch.write("job/rank0.json", rank_trace(0, 0));
  scratch.write("job/package.json", R"({"name": "x"})");
  const Outcome outcome = run_program({"hta", scratch.path("job")});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("package.json"), std::string::npos) << outcome.err;
}

TEST(Hta, JsonGoesToAFileButNeverOverATrace) {
  const Scratch scratch;
  const std::string trace = scratch.write("trace.json", rank_trace(0, 0));
  const std::string findings = scratch.path("findings.json");
  EXPECT_EQ(run_program({"hta", trace, "--json", findings}).status, 0);
  const std::string written = content_of(findings);
  EXPECT_EQ(nlohmann::json::parse(written)["ranks"].size(), 1U);
  EXPECT_EQ(run_program({"hta", trace, "--json", findings}).status, 0);  // over itself

  const Outcome outcome = run_program({"hta", "--json", trace});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, written);
  EXPECT_EQ(content_of(trace), rank_trace(0, 0));
}

TEST(Hta, ATraceWithoutAGpuJustSaysSo) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "cpu.json", R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])");
  EXPECT_NE(run_program({"hta", file}).out.find("This trace has no GPU work."), std::string::npos);
  const nlohmann::json json = json_of({file});
  EXPECT_TRUE(json["ranks"][0]["temporal"].is_null());
  EXPECT_TRUE(json["gpu_idle_time_pct"].is_null());
}

TEST(Hta, MoreGpusThanAnybodyHasAreRefusedInOneLine) {
  const Scratch scratch;
  std::string events;
  for (int i = 0; i < 4097; ++i) {
    const std::string device = std::to_string(i);
    events += (i == 0 ? "" : ",\n") +
              std::string(R"({"ph":"X","cat":"kernel","name":"k","tid":7,"dur":1,"ts":)") + device +
              R"(,"pid":)" + device + R"(,"args":{"stream":7,"device":)" + device + "}}";
  }
  const std::string trace = scratch.write("trace.json", "[" + events + "]");
  const std::string page = scratch.path("page.html");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"hta", trace}, {"report", trace, "-o", page}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("names 4,097 GPUs; at most 4,096 can be analyzed"),
              std::string::npos)
        << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(page));
  }
}

}  // namespace fathom::cli::hta_test
