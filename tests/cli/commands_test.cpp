#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::commands_test {

constexpr const char* kTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10.5, "dur": 40},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 20, "dur": 10.25,
   "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 60, "dur": 100,
   "args": {"correlation": 7, "stream": 7, "device": 0}}
]})";

TEST(Report, TextAndJsonTellTheSame) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const Outcome text = run_program({"report", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("sgemm"), std::string::npos);

  const nlohmann::json json = nlohmann::json::parse(run_program({"report", file, "--json"}).out);
  EXPECT_EQ(json["run"]["spans"], 3);
  EXPECT_EQ(json["run"]["gpu_busy_ns"], 100'000);
  ASSERT_EQ(json["operations"].size(), 3U);
  EXPECT_EQ(json["operations"][0]["name"], "sgemm");
  EXPECT_EQ(json["operations"][1]["name"], "aten::mm");
  EXPECT_EQ(json["operations"][1]["self_ns"], 29'750);
  EXPECT_TRUE(json["run"]["rank"].is_null());
}

// GPU work belongs to the operators around its launch, as far as it ran while they did.
TEST(Convert, AProfileOfAFrameworksTraceSaysWhatTheGpuDid) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", R"({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "step", "pid": 9, "tid": 9, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10, "dur": 40},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 20, "dur": 10,
     "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 40, "dur": 30,
     "args": {"correlation": 7, "stream": 7, "device": 0}}
  ]})");
  const Outcome outcome = run_program({"convert", file, "-", "--format", "profile"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json profile = nlohmann::json::parse(outcome.out);
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& entry : profile["entries"]) by_name[entry["operation"]] = entry;
  EXPECT_DOUBLE_EQ(by_name["step"]["gpu_time_ms"].get<double>(), 0.03);
  EXPECT_DOUBLE_EQ(by_name["step"]["overhead_ms"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(by_name["step"]["cpu_time_ms"].get<double>(), 0.06);
  EXPECT_DOUBLE_EQ(by_name["aten::mm"]["gpu_time_ms"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(profile["summary"]["step"]["total_gpu_time_ms"].get<double>(), 0.03);
}

TEST(Report, IsAsWideAsColumnsSaysInAPipe) {
  const Scratch scratch;
  const std::string name(300, 'n');
  const std::string file = scratch.write(
      "trace.json", R"([{"ph":"X","name":")" + name + R"(","pid":1,"tid":1,"ts":1,"dur":9}])");
  const auto has_whole_name = [&](const char* columns) {
    const Outcome outcome = run_program({"report", file}, {.columns = columns});
    return outcome.out.find(name) != std::string::npos;
  };
  EXPECT_FALSE(has_whole_name(""));
  EXPECT_TRUE(has_whole_name("400"));
  EXPECT_FALSE(has_whole_name("4000"));
}

TEST(Report, QuotesPathsInCommandsToPaste) {
  const Scratch scratch;
  const std::string file = scratch.write("my trace.json", kTrace);
  EXPECT_NE(run_program({"timeline", file}).out.find("fathom timeline '" + file + "' -o"),
            std::string::npos);
}

TEST(Report, ShowsKernelsWithLongNamesAsDifferentOnes) {
  const Scratch scratch;
  const std::string begin = "void at::native::vectorized_elementwise_kernel<4, at::native::";
  std::string events;
  for (const char* end : {"AddFunctor<float>>()", "MulFunctor<float>>()"}) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"{}{}","pid":0,"tid":7,"ts":{},"dur":19,"args":{{"stream":7,"device":0}}}})",
        events.empty() ? "" : ",", begin, end, events.size());
  }
  const std::string file = scratch.write("trace.json", "[" + events + "]");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"report", file},
                                                {"hta", file},
                                                {"flame", file, "--weight", "gpu"}}) {
    const std::string text = run_program(words, {.columns = "90"}).out;
    EXPECT_NE(text.find("Add"), std::string::npos) << text;
    EXPECT_NE(text.find("Mul"), std::string::npos) << text;
  }
}

TEST(Report, OfADamagedFileWarnsAndReportsTheRest) {
  const Scratch scratch;
  const std::string file = scratch.write("cut.json", std::string(kTrace).substr(0, 200));
  const Outcome outcome = run_program({"report", file});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("cut off"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("aten::mm"), std::string::npos);
}

TEST(Report, OfAGzipThatWasCutOffShowsWhatItCanAndIsNoSuccess) {
  const Scratch scratch;
  std::string events = R"({"traceEvents":[{"ph":"X","name":"first","ts":1,"dur":1})";
  for (int i = 0; i < 20'000; ++i) {
    events +=
        fmt::format(R"(,{{"ph":"X","name":"op{}","ts":{},"dur":1}})", i * 7919 % 10'007, i + 2);
  }
  const std::string file = scratch.write("whole.json", events + "]}");
  const std::string packed = scratch.path("packed.json.gz");
  ASSERT_EQ(run_program({"convert", file, packed}).status, 0);
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
  const Outcome outcome = run_program({"report", packed});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("cut off"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("op"), std::string::npos);
}

TEST(Convert, ThereAndBackGivesTheSameReport) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const auto operations = [](const std::string& path) {
    return nlohmann::json::parse(run_program({"report", path, "--json"}).out)["operations"];
  };
  for (const char* ending : {"pftrace", "json", "json.gz", "json.zst"}) {
    const std::string there = scratch.path(std::string("there.") + ending);
    const Outcome converted = run_program({"convert", file, there});
    ASSERT_EQ(converted.status, 0) << converted.err;
    EXPECT_NE(converted.out.find("3 spans"), std::string::npos);
    EXPECT_EQ(operations(there), operations(file)) << ending;
  }
}

TEST(Program, HelpOfEachCommandHasExamples) {
  for (const char* command :
       {"memory", "report", "open", "flame", "timeline", "hta", "compare", "convert", "devices",
        "monitor", "serve", "token", "audit", "compile", "completion"}) {
    const Outcome help = run_program({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << command;
  }
  EXPECT_NE(run_program({"--help"}).out.find("Examples:"), std::string::npos);
}

TEST(Program, HelpIsACommandToo) {
  EXPECT_EQ(run_program({"help"}).out, run_program({"--help"}).out);
  EXPECT_EQ(run_program({"help", "report"}).out, run_program({"report", "--help"}).out);
  EXPECT_NE(run_program({"--help"}).out.find("\n  help "), std::string::npos);
}

TEST(Program, SaysItsVersion) {
  EXPECT_EQ(run_program({"--version"}).out.rfind("fathom ", 0), 0U);
}

TEST(Completion, KnowsEveryCommandAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome script = run_program({"completion", shell});
    EXPECT_EQ(script.status, 0);
    for (const char* word : {"report", "convert", "completion", "top", "json"}) {
      EXPECT_NE(script.out.find(word), std::string::npos) << shell << " " << word;
    }
  }
}

}  // namespace fathom::cli::commands_test
