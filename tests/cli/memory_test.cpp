#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_program.h"

namespace fathom::cli::memory_test {

// A step whose linear layer allocates 3 MB, gives 1 MB back and keeps the rest.
constexpr const char* kTrace = R"({"traceEvents": [
  {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":9,"ts":0,"dur":1000},
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":9,"ts":100,"dur":300},
  {"ph":"X","cat":"cpu_op","name":"aten::empty","pid":9,"tid":9,"ts":150,"dur":50},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":160,"args":{"Device Type":1,"Device Id":0,
   "Addr":4096,"Bytes":1048576,"Total Allocated":1048576,"Total Reserved":4194304}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":170,"args":{"Device Type":1,"Device Id":0,
   "Addr":2101248,"Bytes":2097152,"Total Allocated":3145728,"Total Reserved":4194304}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":500,"args":{"Device Type":1,"Device Id":0,
   "Addr":4096,"Bytes":-1048576,"Total Allocated":2097152,"Total Reserved":4194304}}
]})";

std::set<std::string> names_of(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

TEST(Memory, TellsThePeakAndWhatWasNeverFreed) {
  const Scratch scratch;
  const Outcome text = run_program({"memory", scratch.write("trace.json", kTrace)});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* part :
       {"peaked at 3 MB", "all of it from ProfilerStep# · aten::linear", "2 MB in 1 block",
        "alive at the peak", "alive at the end", "25.0 % of it was unused", "█"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  }
}

// Paragraphs as they were before they were broken into lines.
std::string in_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) {
    text.replace(at, 3, " ");
  }
  return text;
}

// 100 bytes were there before, and are at the end: not everything is freed.
TEST(Memory, WhatIsOlderIsNotSaidToBeFreed) {
  const Scratch scratch;
  const auto event = [](int at, int bytes, int total) {
    return fmt::format(
        R"({{"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":{},"args":{{"Device Type":1,)"
        R"("Device Id":0,"Addr":1024,"Bytes":{},"Total Allocated":{}}}}})",
        at, bytes, total);
  };
  const std::string events = event(10, 900, 1000) + "," + event(20, -900, 100);
  const Outcome outcome = run_program({"memory", scratch.write("trace.json", "[" + events + "]")});
  EXPECT_NE(in_one_line(outcome.out)
                .find("Everything allocated during the recording was freed again; 100 B is older "
                      "than the recording."),
            std::string::npos)
      << outcome.out;
}

TEST(Memory, SaysWhatNeedsLessThanASoftmaxThatIsWrittenOut) {
  const Scratch scratch;
  const auto said = [&](const char* name, int bytes) {
    const std::string call = fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":9,"tid":9,"ts":10,"dur":10}})", name);
    const auto event = [](int at, int address, int size) {
      return fmt::format(
          R"({{"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":{},"args":{{"Device Type":1,)"
          R"("Device Id":0,"Addr":{},"Bytes":{}}}}})",
          at, address, size);
    };
    const std::string events =
        call + "," + event(15, 1024, bytes) + "," + event(30, 1 << 24, 1'000'000);
    return in_one_line(run_program({"memory", scratch.write("t.json", "[" + events + "]")}).out);
  };
  const std::string hint = "F.scaled_dot_product_attention does not.";
  EXPECT_NE(said("aten::softmax", 1'000'000).find("50.0 % of the peak"), std::string::npos);
  EXPECT_NE(said("aten::softmax", 1'000'000).find(hint), std::string::npos);
  EXPECT_EQ(said("aten::softmax", 10'000).find(hint), std::string::npos) << "too little";
  EXPECT_EQ(said("aten::log_softmax", 1'000'000).find(hint), std::string::npos) << "of a loss";
}

TEST(Memory, JsonIsAsTheSchemaSays) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", kTrace);
  const auto json = nlohmann::json::parse(run_program({"memory", file, "--json"}).out);
  const nlohmann::json& device = json["devices"][0];
  EXPECT_DOUBLE_EQ(json["peak_allocated_mb"], 3);
  EXPECT_DOUBLE_EQ(json["peak_time_ms"], 0.17);
  EXPECT_EQ(device["at_peak"][0]["call"], "aten::linear");
  EXPECT_EQ(device["leaks"][0]["blocks"], 1);
  EXPECT_DOUBLE_EQ(device["fragmentation"]["free_mb"], 1);
  EXPECT_EQ(device["timeline"].size(), 4U);
  EXPECT_TRUE(json["host"].is_null());

  std::ifstream schema_file(FATHOM_SOURCE_DIR "/docs/memory.schema.json");
  const auto schema = nlohmann::json::parse(schema_file);
  EXPECT_EQ(names_of(json), names_of(schema["properties"]));
  const nlohmann::json& wanted = schema["$defs"]["device"]["properties"];
  EXPECT_EQ(names_of(device), names_of(wanted));
  EXPECT_EQ(names_of(device["timeline"][0]), names_of(wanted["timeline"]["items"]["properties"]));
}

TEST(Memory, WritesJsonToAFile) {
  const Scratch scratch;
  const std::string out = scratch.path("memory.json");
  const Outcome outcome =
      run_program({"memory", scratch.write("trace.json", kTrace), "--json", "-o", out});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find(out), std::string::npos) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(content_of(out))["peak_device"], "GPU 0");
}

TEST(Memory, WritesAPageThatOpensOnMemory) {
  const Scratch scratch;
  const std::string out = scratch.path("memory.html");
  const Outcome outcome = run_program({"memory", scratch.write("trace.json", kTrace), "-o", out});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(out), std::string::npos) << outcome.err;
  EXPECT_NE(content_of(out).find("data-start=\"memory\""), std::string::npos);
}

// Three quarters of the memory of one call, and the rest of the same call in a scope.
TEST(Memory, SaysWhatOfACallWasOutsideOfAnyScope) {
  const Scratch scratch;
  const auto event = [](int at, int address, int bytes) {
    return fmt::format(
        R"({{"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":{},"args":{{"Device Type":1,)"
        R"("Device Id":0,"Addr":{},"Bytes":{}}}}})",
        at, address, bytes);
  };
  const auto call = [](int at) {
    return fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","pid":9,"tid":9,"ts":{},"dur":10}})",
        at);
  };
  const std::string outside = call(10) + "," + event(15, 1024, 3000000);
  const std::string inside =
      R"({"ph":"X","cat":"user_annotation","name":"step","pid":9,"tid":9,"ts":100,"dur":100},)" +
      call(110) + "," + event(115, 8000000, 1000000);
  const auto said = [&](const std::string& events) {
    return run_program({"memory", scratch.write("trace.json", "[" + events + "]")}).out;
  };
  const std::string both = said(outside + "," + inside);
  EXPECT_NE(both.find("75.0 % of it from cudaMalloc, outside any scope."), std::string::npos)
      << both;
  const std::string one = said(outside);
  EXPECT_NE(one.find("all of it from cudaMalloc."), std::string::npos) << one;
}

TEST(Memory, OfATraceWithoutAnySaysSo) {
  const Scratch scratch;
  const std::string file =
      scratch.write("trace.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}])");
  const Outcome outcome = run_program({"memory", file});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("This file has no memory events"), std::string::npos);
}

TEST(Memory, RecordsAProgramAndEndsAsItEnded) {
  const Scratch scratch;
  const std::string run = scratch.path("run.pftrace");
  const Outcome outcome = run_program(
      {"memory", "-o", run, "--interval", "1", "--", "sh", "-c", "sleep 0.5; echo out; exit 3"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_NE(outcome.err.find("host memory peaked at"), std::string::npos) << outcome.err;
  const auto json = nlohmann::json::parse(run_program({"memory", run, "--json"}).out);
  EXPECT_GT(json["host"]["peak_rss_mb"], 0);
}

TEST(Memory, OfAProgramThatDoesLittleLastsAsLongAsTheProgram) {
  const Scratch scratch;
  const std::string run = scratch.path("run.pftrace");
  run_program({"memory", "-o", run, "--", "sleep", "0.4"});
  const auto json = nlohmann::json::parse(run_program({"memory", run, "--json"}).out);
  EXPECT_GE(json["duration_ms"], 400);
}

TEST(Memory, OfAProgramThatIsOverAtOnceClaimsNoPeak) {
  const Scratch scratch;
  const std::string run = scratch.path("run.pftrace");
  const Outcome outcome = run_program({"memory", "-o", run, "--interval", "10000", "--", "true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("peaked"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("program ended"), std::string::npos) << outcome.err;
}

TEST(Memory, TwoFilesAreOneTooMany) {
  const Outcome outcome = run_program({"memory", "a.json", "b.json"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("put -- before it"), std::string::npos) << outcome.err;
}

TEST(Memory, AFileThatIsNotThereIsOneLine) {
  const Outcome outcome = run_program({"memory", "/nowhere/run.pftrace"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace fathom::cli::memory_test
