#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_program.h"

namespace fathom::cli::suggest_test {

using nlohmann::json;

// Twenty steps in which the thread that launches loads data for longer than the GPU works.
std::string loading_trace() {
  json events = json::array();
  const auto add = [&](const char* category, const char* name, int thread, int start, int duration,
                       const json& args) {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", 9},
                      {"tid", thread},
                      {"ts", start},
                      {"dur", duration},
                      {"args", args}});
  };
  for (int step = 0; step < 20; ++step) {
    const int at = step * 5100;
    add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 9, at,
        3000, json::object());
    add("cuda_runtime", "cudaLaunchKernel", 9, at + 3010, 5, {{"correlation", step + 1}});
    add("kernel", "gemm", 7, at + 3020, 2000,
        {{"correlation", step + 1}, {"stream", 7}, {"device", 0}});
    add("cuda_runtime", "cudaDeviceSynchronize", 9, at + 3016, 2007, json::object());
  }
  return json{{"traceEvents", events}}.dump();
}

// A driver that says nothing of its device says 0 of it.
TEST(Suggest, OfADeviceOfWhichNothingIsKnown) {
  json trace = json::parse(loading_trace());
  trace["deviceProperties"] = {{{"id", 0}, {"name", "GPU"}, {"numSms", 0}, {"totalGlobalMem", 0}}};
  trace["traceEvents"].push_back({{"ph", "i"},
                                  {"s", "t"},
                                  {"name", "[memory]"},
                                  {"pid", 9},
                                  {"tid", 9},
                                  {"ts", 10},
                                  {"args",
                                   {{"Device Type", 1},
                                    {"Device Id", 0},
                                    {"Addr", 1},
                                    {"Bytes", 200},
                                    {"Total Allocated", 200},
                                    {"Total Reserved", 200}}}});
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", trace.dump());
  for (const char* command : {"suggest", "report", "hta"}) {
    const Outcome outcome = run_program({command, file});
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_EQ(outcome.out.find("inf"), std::string::npos) << outcome.out;
  }
}

std::set<std::string> names_of(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

// A softmax of 403 MB in 141 µs, again and again: 85 % of 3,350 GB/s.
std::string softmax_trace() {
  json events = json::array();
  const json op =
      json::parse(R"({"Input Dims": [[8, 12, 1024, 1024]], "Input type": ["c10::BFloat16"]})");
  for (int i = 0; i < 100; ++i) {
    const auto add = [&](const char* category, const char* name, int thread, int start,
                         int duration, const json& args) {
      events.push_back({{"ph", "X"},
                        {"cat", category},
                        {"name", name},
                        {"pid", 9},
                        {"tid", thread},
                        {"ts", start},
                        {"dur", duration},
                        {"args", args}});
    };
    add("cpu_op", "aten::_softmax", 9, i * 20, 15, op);
    add("cuda_runtime", "cudaLaunchKernel", 9, i * 20 + 2, 5, {{"correlation", i + 1}});
    add("kernel", "softmax_forward", 7, 20 + i * 142, 141,
        {{"correlation", i + 1}, {"stream", 7}, {"device", 0}});
  }
  return json{{"traceEvents", events}}.dump();
}

// With them a kernel that uses the memory as well as can be expected is not to be optimised.
TEST(Suggest, TakesThePeaksOfTheGpu) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", softmax_trace());
  const auto is_said = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out.find("it takes the most GPU time") != std::string::npos;
  };
  EXPECT_TRUE(is_said(run_program({"suggest", file})));
  EXPECT_FALSE(is_said(run_program({"suggest", file, "--peak", "fp32=67,gbps=3350"})));
  const Outcome wrong = run_program({"suggest", file, "--peak", "speed=1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("invalid peak 'speed=1'"), std::string::npos) << wrong.err;
}

TEST(Suggest, TextSaysWhatToDoWhatItBringsAndHow) {
  const Scratch scratch;
  const Outcome outcome = run_program({"suggest", scratch.write("trace.json", loading_trace())});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part : {"Load data in worker processes", "critical", "seen", "gain", "how",
                           "num_workers=4", "see", "20 spans"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST(Suggest, NamesCannotMoveTheCursor) {
  json trace = json::parse(loading_trace());
  for (json& event : trace["traceEvents"]) {
    if (event["cat"] == "kernel") event["name"] = "\x1b[2Jevil";
    if (event["cat"] == "user_annotation") event["name"] = "\x1b[2JDataLoader";
  }
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", trace.dump());
  const Outcome outcome = run_program({"suggest", file, "--all"});
  EXPECT_NE(outcome.out.find("evil"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
}

// A program that is not PyTorch gets no code of it.
TEST(Suggest, OfAnOpenclRunSpeaksOpencl) {
  json trace = json::parse(loading_trace());
  for (json& event : trace["traceEvents"]) {
    if (event["name"] == "cudaLaunchKernel") event["name"] = "clEnqueueNDRangeKernel";
    if (event["name"] == "cudaDeviceSynchronize") event["name"] = "clFinish";
    if (event["cat"] == "user_annotation") event["name"] = "prepare";
    if (event["cat"] == "user_annotation") event["cat"] = "cpu_op";
  }
  const Scratch scratch;
  const Outcome outcome =
      run_program({"suggest", scratch.write("trace.json", trace.dump()), "--all"});
  EXPECT_NE(outcome.out.find("clFlush"), std::string::npos) << outcome.out;
  for (const char* part : {"torch", "cuda", "CUDA", "ncu "}) {
    EXPECT_EQ(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST(Suggest, JsonIsAsTheSchemaSays) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", loading_trace());
  const json found = json::parse(run_program({"suggest", file, "--json"}).out);
  const json schema = json::parse(content_of(FATHOM_SOURCE_DIR "/docs/suggest.schema.json"));
  EXPECT_EQ(names_of(found), names_of(schema["properties"]));
  EXPECT_TRUE(found["has_gains"].get<bool>());
  ASSERT_FALSE(found["suggestions"].empty());
  const json& wanted = schema["$defs"]["suggestion"]["properties"];
  for (const json& one : found["suggestions"]) {
    EXPECT_EQ(names_of(one), names_of(wanted));
    EXPECT_EQ(names_of(one["gain"]), names_of(wanted["gain"]["properties"]));
    EXPECT_EQ(names_of(one["evidence"][0]), names_of(wanted["evidence"]["items"]["properties"]));
    const auto is_one_of = [&](const char* key) {
      const json& allowed = wanted[key]["enum"];
      return std::find(allowed.begin(), allowed.end(), one[key]) != allowed.end();
    };
    EXPECT_TRUE(is_one_of("type") && is_one_of("priority") && is_one_of("basis")) << one;
  }
  const json& first = found["suggestions"][0];
  EXPECT_EQ(first["rule"], "input");
  EXPECT_NEAR(first["gain"]["mid_ms"].get<double>(), 20 * 2.7, 2);
  EXPECT_NEAR(first["potential_speedup"].get<double>(),
              first["current_time_ms"].get<double>() / first["estimated_time_ms"].get<double>(),
              1e-9);
}

TEST(Suggest, TopAndCriticalLeaveOutTheRestAndJsonGoesToAFile) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", loading_trace());
  const std::string out = scratch.path("suggestions.json");
  EXPECT_EQ(run_program({"suggest", file, "--json", out, "--top", "1"}).status, 0);
  EXPECT_EQ(json::parse(content_of(out))["suggestions"].size(), 1U);
  const json critical = json::parse(run_program({"suggest", file, "--critical", "--json"}).out);
  for (const json& one : critical["suggestions"]) EXPECT_EQ(one["priority"], "critical");
  const std::string calm =
      scratch.write("calm.json",
                    R"({"entries": [], "summary": {"a": {"call_count": 1, "total_time_ms": 900},
          "tokenize": {"call_count": 200, "total_time_ms": 40}}})");
  EXPECT_NE(run_program({"suggest", calm, "--critical"}).out.find("Nothing is critical"),
            std::string::npos);
  const json usual = json::parse(run_program({"suggest", file, "--json"}).out);
  const json all = json::parse(run_program({"suggest", file, "--all", "--json"}).out);
  EXPECT_GE(all["suggestions"].size(), usual["suggestions"].size());
}

TEST(Suggest, OfAProfileGivesBounds) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "profile.json",
      R"({"entries": [], "summary": {"tokenize": {"call_count": 200, "total_time_ms": 40}}})");
  const json found = json::parse(run_program({"suggest", file, "--json"}).out);
  EXPECT_FALSE(found["has_gains"].get<bool>());
  EXPECT_TRUE(found["replayed_ms"].is_null());
  ASSERT_EQ(found["suggestions"].size(), 1U);
  EXPECT_EQ(found["suggestions"][0]["basis"], "bound");
  EXPECT_EQ(found["suggestions"][0]["type"], "caching");
  EXPECT_NE(run_program({"suggest", file}).out.find("bounds"), std::string::npos);
}

TEST(Suggest, OfARunWithNothingToChangeSaysSo) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "cpu.json", R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])");
  const Outcome outcome = run_program({"suggest", file});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("Nothing to suggest"), std::string::npos) << outcome.out;
}

}  // namespace fathom::cli::suggest_test
