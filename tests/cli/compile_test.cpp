// fathom compile, through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::compile_test {

using nlohmann::json;
using ::testing::HasSubstr;

const std::vector<std::string> kNoFaults = {};

// Two versions of one function, a graph break with its reason, and a cache that was missed.
constexpr const char* kLog =
    R"log(V0721 16:11:45.671000 98102 torch/_dynamo/convert_frame.py:1123] {"dynamo_start": {"stack": [{"line": 3, "name": "main", "filename": 0, "loc": "f(x)"}]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "x"}
	Graph break in user code at /me/model.py:31
	Graph Break Reason: call_function BuiltinVariable(print)
	User code traceback:
	  File "/me/model.py", line 31, in f
	    print(x)
V0721 16:11:45.671000 98102 torch/_inductor/codecache.py:1900] {"artifact": {"name": "fx_graph_cache_miss", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "x"}
	{"key": "abc"}
V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1045] {"compilation_metrics": {"co_name": "f", "co_filename": "/me/model.py", "co_firstlineno": 29, "cache_size": 0, "dynamo_cumulative_compile_time_us": 2000000, "aot_autograd_cumulative_compile_time_us": 1500000, "inductor_cumulative_compile_time_us": 1200000}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V0721 16:11:55.958000 98102 torch/_dynamo/guards.py:3564] {"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0, "has_payload": "x"}
	["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"]
V0721 16:11:56.671000 98102 torch/_dynamo/utils.py:1045] {"compilation_metrics": {"co_name": "f", "co_filename": "/me/model.py", "co_firstlineno": 29, "cache_size": 1, "dynamo_cumulative_compile_time_us": 1000000}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0}
)log";

TEST(Compile, SaysHowLongItTookAndWhatToDo) {
  const Scratch scratch;
  const Outcome outcome = run_program({"compile", scratch.write("rank_0.log", kLog)});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Compiling took 3.00 s: 1 function, 2 compilations."));
  EXPECT_THAT(outcome.out, HasSubstr("1 graph break, 1 recompilation."));
  EXPECT_THAT(outcome.out, HasSubstr("Graph break in f at model.py:31"));
  EXPECT_THAT(outcome.out, HasSubstr("f was compiled again 1 time at model.py:29: 1.00 s"));
  EXPECT_THAT(outcome.out, HasSubstr("torch.compile(dynamic=True)"));
}

TEST(Compile, JsonFollowsItsSchema) {
  const Scratch scratch;
  const Outcome outcome = run_program({"compile", scratch.write("rank_0.log", kLog), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(faults_against("compile", document), kNoFaults);
  EXPECT_EQ(document["time_ms"], 3000);
  EXPECT_EQ(document["graph_breaks"], 1);
  EXPECT_EQ(document["recompiles"], 1);
  EXPECT_EQ(document["caches"]["fx_graph"]["misses"], 1);
  EXPECT_EQ(document["logs"][0]["rank"], 0);
  EXPECT_EQ(document["logs"][0]["compilations"][0]["phases_ms"]["inductor"], 1200);
  EXPECT_EQ(document["logs"][0]["compilations"][1]["phases_ms"]["inductor"], nullptr);
  EXPECT_EQ(document["speedup"], nullptr);
}

TEST(Compile, TakesTheLogsOfAFolderAndLeavesOthersOut) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("logs"));
  scratch.write("logs/rank_0.log", kLog);
  scratch.write("logs/rank_1.log", kLog);
  scratch.write("logs/notes.txt", "nothing of torch's");
  const Outcome outcome = run_program({"compile", scratch.path("logs/")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("\n  logs\n"));
  EXPECT_THAT(outcome.out, HasSubstr("4 compilations on 2 ranks"));
  EXPECT_THAT(outcome.out, HasSubstr("Compiling took 3.00 s"));
}

TEST(Compile, SaysWhatCudaGraphsDid) {
  const Scratch scratch;
  const std::string prefix = "V0721 16:11:57.000000 98102 torch/_dynamo/utils.py:1900] ";
  const std::string record = prefix + R"({"chromium_event": {}, "has_payload": "x"})" +
                             "\n\t"
                             R"({"name": "CUDAGraphNode.record", "ts": 5, "ph": "B", "args": )"
                             R"({"compile_id": "0/0", "is_backward": false}})"
                             "\n";
  const std::string skip =
      prefix +
      R"({"compilation_metrics": {"co_name": "g", "co_filename": "/me/model.py", )"
      R"("co_firstlineno": 50, "cudagraph_skip_reason": "skipping cudagraphs due to cpu device"}, )"
      R"("frame_id": 1, "frame_compile_id": 0, "attempt": 0})"
      "\n";
  const std::string log = scratch.write("rank_0.log", kLog + record + record + record + skip);
  const Outcome outcome = run_program({"compile", log});
  EXPECT_THAT(outcome.out, HasSubstr("1 graph without CUDA graphs, 2 CUDA"));
  EXPECT_THAT(outcome.out, HasSubstr("graphs recorded again."));
  EXPECT_THAT(outcome.out, HasSubstr("The CUDA graphs of f were recorded again 2 times"));
  EXPECT_THAT(outcome.out, HasSubstr("skipping cudagraphs due to cpu device"));
  const json document = json::parse(run_program({"compile", log, "--json"}).out);
  EXPECT_EQ(faults_against("compile", document), kNoFaults);
  EXPECT_EQ(document["cudagraph_rerecorded"][0]["times"], 2);
  EXPECT_EQ(document["cudagraph_skips"][0]["count"], 1);
}

TEST(Compile, SpeedupIsThatOfAStepOrOfTheRun) {
  const Scratch scratch;
  const auto trace = [&](const char* name, const char* us) {
    return scratch.write(
        name, std::string(R"([{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel",)"
                          R"("pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},)"
                          R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":6,"dur":)") +
                  us + R"(,"args":{"stream":7,"device":0,"correlation":1}}])");
  };
  const Outcome outcome =
      run_program({"compile", scratch.write("a.log", kLog), "--trace", trace("compiled.json", "94"),
                   "--eager", trace("eager.json", "294"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["speedup"], 3);
}

// Two kernels of 30 and 10 us; the first is launched within the compiled function.
constexpr const char* kTrace = R"([
{"ph":"X","cat":"user_annotation","name":"Torch-Compiled Region: 0/0","pid":1,"tid":1,"ts":0,"dur":20},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":25,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":11,"dur":30,"args":{"stream":7,"device":0,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":45,"dur":10,"args":{"stream":7,"device":0,"correlation":2}}])";

TEST(Compile, TellsHowMuchOfATraceIsCompiled) {
  const Scratch scratch;
  const Outcome outcome = run_program({"compile", scratch.write("a.log", kLog), "--trace",
                                       scratch.write("trace.json", kTrace), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(faults_against("compile", document), kNoFaults);
  EXPECT_EQ(document["trace"]["gpu_ms"], 0.04);
  EXPECT_EQ(document["trace"]["compiled_gpu_ms"], 0.03);
  ASSERT_EQ(document["trace"]["regions"].size(), 1U);
  EXPECT_EQ(document["trace"]["regions"][0]["id"], "0/0");
  EXPECT_EQ(document["trace"]["regions"][0]["calls"], 1);
  EXPECT_EQ(document["speedup"], nullptr);
  EXPECT_THAT(std::string(document["story"]),
              HasSubstr("Compiled code launched 75.0 % of the GPU work"));
}

TEST(Compile, SuggestHasWhatTheLogsSuggest) {
  const Scratch scratch;
  const std::string log = scratch.write("a.log", kLog);
  const std::string trace = scratch.write("trace.json", kTrace);
  const Outcome outcome = run_program({"suggest", trace, "--compile", log, "--top", "0", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(faults_against("suggest", document), kNoFaults);
  std::vector<std::string> titles;
  for (const json& one : document["suggestions"]) {
    if (one["rule"] == "compile") titles.push_back(one["title"]);
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"Avoid the graph break in f at model.py:31",
                                              "Keep f from being compiled again"}));
  const Outcome critical =
      run_program({"suggest", trace, "--compile", log, "--critical", "--json"});
  ASSERT_EQ(critical.status, 0) << critical.err;
  EXPECT_TRUE(json::parse(critical.out)["suggestions"].empty());
  EXPECT_EQ(run_program({"suggest", trace, "--compile", trace}).status, 2);
}

TEST(Compile, WritesAPage) {
  const Scratch scratch;
  const std::string log = scratch.write("a.log", kLog);
  const std::string page = scratch.path("compile.html");
  EXPECT_EQ(run_program({"compile", log, "-o", page}).status, 0);
  EXPECT_GT(std::filesystem::file_size(page), 100'000U);
}

TEST(Compile, TheTreeLeadsToEachCompilationOnce) {
  const Scratch scratch;
  const Outcome outcome = run_program({"compile", scratch.write("a.log", kLog), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json tree = json::parse(outcome.out)["tree"];
  ASSERT_EQ(tree.size(), 2U);  // what has no stack, and main
  EXPECT_EQ(tree[0]["stack"].size(), 0U);
  EXPECT_EQ(tree[0]["compilations"][0]["index"], 1);
  EXPECT_EQ(tree[1]["stack"][0]["function"], "main");
  EXPECT_EQ(tree[1]["time_ms"], 2000);
  EXPECT_EQ(tree[1]["compilations"][0]["index"], 0);
}

TEST(Compile, WrongInputIsOneLine) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("empty"));
  for (const std::string& input : {scratch.path("missing.log"), scratch.write("empty.log", ""),
                                   scratch.write("text.log", "hi\n"),
                                   scratch.write("trace.json", "[]"), scratch.path("empty")}) {
    const Outcome outcome = run_program({"compile", input});
    EXPECT_EQ(outcome.status, 2) << input;
    EXPECT_EQ(outcome.out, "") << input;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  const Outcome alone = run_program({"compile", scratch.write("a.log", kLog), "--eager", "x.json"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--eager needs --trace"));
}

TEST(Compile, ALogThatIsCutOffGivesWhatIsThere) {
  const Scratch scratch;
  const std::string whole = kLog;
  const Outcome outcome =
      run_program({"compile", scratch.write("cut.log", whole.substr(0, whole.size() - 80))});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Graph break in f at model.py:31"));
  EXPECT_THAT(outcome.out, HasSubstr("1 line could not be read"));
}

TEST(Compile, ReadsALogFromStandardInput) {
  const Scratch scratch;
  const std::string log = scratch.write("rank_0.log", kLog);
  const Outcome piped = run_program({"compile", "-"}, {.input = log});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("Compiling took 3.00 s"));
  const std::string trace = scratch.write(
      "trace.json", R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1}])");
  const Outcome beside = run_program({"suggest", trace, "--compile", "-"}, {.input = log});
  EXPECT_EQ(beside.status, 0) << beside.err;
  EXPECT_EQ(run_program({"suggest", "-", "--compile", "-"}, {.input = log}).status, 2);
}

}  // namespace fathom::cli::compile_test
