#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run_program.h"

namespace fathom::cli::flame_test {

using nlohmann::json;

constexpr const char* kTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10, "dur": 40},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 20, "dur": 10,
   "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "sgemm; a\nb", "pid": 0, "tid": 7, "ts": 60, "dur": 100,
   "args": {"correlation": 7, "stream": 7, "device": 0}},
  {"ph": "X", "cat": "kernel", "name": "alone", "pid": 0, "tid": 7, "ts": 200, "dur": 50,
   "args": {"stream": 7, "device": 0}}
]})";

json parsed(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST(Flame, TextShowsTheHeaviestPaths) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const Outcome text = run_program({"flame", file, "--weight", "gpu"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("150.0 µs of GPU work"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("66.7 %"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("GPU work without a launch"), std::string::npos);
}

TEST(Flame, JsonHasEachNodesWeightAndChildren) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const json found = parsed(run_program({"flame", file, "--json"}));
  EXPECT_EQ(found["weight"], "cpu");
  EXPECT_EQ(found["root"]["value"], 40'000);
  EXPECT_EQ(found["root"]["gpu_ns"], 150'000);
  const json& op = found["root"]["children"][0]["children"][0];
  EXPECT_EQ(op["name"], "aten::mm");
  EXPECT_EQ(op["self"], 30'000);
  EXPECT_EQ(op["children"][0]["children"][0]["gpu_ns"], 100'000);
}

TEST(Flame, FoldedLinesAddUpToTheWhole) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  std::map<std::string, long> paths;
  std::istringstream lines(run_program({"flame", file, "--folded", "--weight", "gpu"}).out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    paths[line.substr(0, space)] = std::stol(line.substr(space + 1));
  }
  EXPECT_EQ(paths,
            (std::map<std::string, long>{{"thread 9;aten::mm;cudaLaunchKernel;sgemm: a b", 100'000},
                                         {"GPU work without a launch;alone", 50'000}}));
}

TEST(Flame, SpeedscopeFileIsWhatItsSchemaAsksFor) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const std::string out = scratch.path("flame.speedscope.json");
  const Outcome written = run_program({"flame", file, "--speedscope", "-o", out});
  ASSERT_EQ(written.status, 0) << written.err;
  const json found = json::parse(content_of(out));
  EXPECT_EQ(found["$schema"], "https://www.speedscope.app/file-format-schema.json");
  const json& profile = found["profiles"][0];
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["unit"], "nanoseconds");
  ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
  long sum = 0;
  for (const json& weight : profile["weights"]) sum += weight.get<long>();
  EXPECT_EQ(profile["startValue"], 0);
  EXPECT_EQ(profile["endValue"], sum);
  EXPECT_EQ(sum, 40'000);
  for (const json& sample : profile["samples"]) {
    for (const json& frame : sample) {
      EXPECT_LT(frame.get<std::size_t>(), found["shared"]["frames"].size());
    }
  }
}

TEST(Flame, WritesAPage) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const std::string out = scratch.path("flame.html");
  ASSERT_EQ(run_program({"flame", file, "-o", out}).status, 0);
  EXPECT_NE(content_of(out).find("data-start=\"flame\""), std::string::npos);
}

TEST(Flame, RefusesTwoFormatsAtOnceAndAnUnknownWeight) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  EXPECT_EQ(run_program({"flame", file, "--json", "--folded"}).status, 2);
  EXPECT_EQ(run_program({"flame", file, "--weight", "colour"}).status, 2);
}

TEST(Timeline, FiguresAreExact) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const json found = parsed(run_program({"timeline", file, "--json"}));
  EXPECT_EQ(found["total_time_ns"], 240'000);
  EXPECT_EQ(found["cpu_active_time_ns"], 40'000);
  EXPECT_EQ(found["gpu_active_time_ns"], 150'000);
  EXPECT_EQ(found["overlap_time_ns"], 0);
  EXPECT_EQ(found["tracks"].size(), 2U);
  EXPECT_NE(run_program({"timeline", file}).out.find("GPU 0 · stream 7"), std::string::npos);
}

TEST(Timeline, WithoutGpuWorkItsFiguresAreNull) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "host.json", R"([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 5}])");
  const json found = parsed(run_program({"timeline", file, "--json"}));
  EXPECT_TRUE(found["gpu_active_time_ns"].is_null());
  EXPECT_TRUE(found["overlap_time_ns"].is_null());
}

TEST(Timeline, ChromeFileHasOnlyWhatIsDrawn) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const std::string out = scratch.path("small.json");
  ASSERT_EQ(run_program({"timeline", file, "--chrome", out, "--min-duration-us", "45"}).status, 0);
  const json report = parsed(run_program({"report", out, "--json"}));
  EXPECT_EQ(report["run"]["spans"], 2);
}

}  // namespace fathom::cli::flame_test
