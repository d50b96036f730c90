// Nothing from a file reaches a terminal as it is: whatever a trace is named and holds, each
// command's text and JSON are UTF-8 that moves no cursor, rings no bell and forges no line.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "base/printable.h"
#include "cli/run_program.h"

namespace fathom::cli::terminal_test {

// The first thing in a text that acts on a terminal, in words; empty where there is none.
std::string found_in(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t length = base::utf8_length(rest);
    const std::string near(text.substr(text.size() - rest.size(), 40));
    if (length == 0) return "not UTF-8: " + near;
    const char32_t found = base::code_point(rest, length);
    const bool is_layout = found == '\n' || found == '\t';
    if (!is_layout && base::acts_on_a_terminal(found)) {
      return std::to_string(static_cast<unsigned>(found)) + " before " + near.substr(length);
    }
    rest.remove_prefix(length);
  }
  if (text.find("\nFORGED") != std::string_view::npos) return "a forged line";
  return text.find("\nLINE2") != std::string_view::npos ? "a line of a name" : "";
}

std::string hostile(const std::string& name) {
  const std::string evil = name +
                           "\x1b]0;title\x07\r\n"
                           "FORGED\x1b[2J\u009b31m\u202egnp\u2028\x7f";
  std::string text;
  base::append_json_string(text, evil);
  // Two bytes that are no UTF-8, as some tracers write them.
  return text.substr(0, text.size() - 1) + "\xFF\x9B\"";
}

std::string hostile_trace() {
  std::string events;
  const auto add = [&](const std::string& event) {
    events += (events.empty() ? "" : ",\n") + event;
  };
  add(R"({"ph":"M","name":"process_name","pid":9,"args":{"name":)" + hostile("python") + "}}");
  add(R"({"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":)" + hostile("thread") +
      "}}");
  add(R"({"ph":"X","cat":"user_annotation","name":)" + hostile("ProfilerStep#1") +
      R"(,"pid":9,"tid":9,"ts":1,"dur":900})");
  add(R"({"ph":"X","cat":"cpu_op","name":)" + hostile("aten::mm") +
      R"(,"pid":9,"tid":9,"ts":2,"dur":800,"args":{"Input Dims":[[)" + hostile("4") + "]]}}");
  add(R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":3,"args":
      {"Bytes":4096,"Addr":16,"Device Type":1,"Device Id":0,"Total Allocated":4096,"Total Reserved":8192}})");
  for (int i = 0; i < 40; ++i) {
    const std::string at = std::to_string(10 + i * 20);
    const std::string both =
        R"(,"args":{"stream":7,"device":0,"correlation":)" + std::to_string(i + 1);
    add(R"({"ph":"X","cat":"cuda_runtime","name":)" + hostile("cudaLaunchKernel") +
        R"(,"pid":9,"tid":9,"dur":5,"ts":)" + at + both + "}}");
    add(R"({"ph":"X","cat":"kernel","name":)" + hostile("sgemm" + std::to_string(i % 3)) +
        R"(,"pid":0,"tid":7,"dur":12,"ts":)" + at + ".5" + both + R"(,"grid":[1,)" + hostile("1") +
        "]}}");
  }
  return R"({"command":)" + hostile("./train") + R"(,"traceName":)" + hostile("trace") +
         R"(,"deviceProperties":[{"id":0,"totalGlobalMem":1000,"name":)" + hostile("A100") +
         "}],\n\"traceEvents\":[" + events + "]}";
}

class Terminal : public ::testing::TestWithParam<const char*> {
 protected:
  Outcome run(const std::string& trace, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {GetParam(), trace};
    const std::string command = GetParam();
    if (command == "compare") words.insert(words.end(), {"--with", trace});
    if (command == "convert") words.push_back(scratch_.path("\x1b[2J\nFORGED.json"));
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  void expect_clean(const Outcome& outcome) const {
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(found_in("\n" + outcome.out), "");
    EXPECT_EQ(found_in("\n" + outcome.err), "");
  }

  Scratch scratch_;
};

TEST_P(Terminal, GetsNothingRawOfATraceOrItsName) {
  const std::string trace = scratch_.write("a\x1b[2J\u202e\nFORGED\xFF.json", hostile_trace());
  const Outcome text = run(trace);
  EXPECT_EQ(text.status, 0) << text.err;
  expect_clean(text);
  if (std::string(GetParam()) == "convert") return;
  const Outcome json = run(trace, {"--json"});
  expect_clean(json);
  EXPECT_TRUE(nlohmann::json::accept(json.out));
}

TEST_P(Terminal, GetsNothingRawOfAnError) {
  expect_clean(run(scratch_.path("none\x1b[2J\nFORGED")));
  expect_clean(run(scratch_.write("text\x1b[2J\nFORGED", "no trace")));
  expect_clean(run_program({"report", "--top", "\x1b[2J\nFORGED", "x"}));
  expect_clean(run_program({"\x1b[2J\nFORGED"}));
}

TEST_P(Terminal, GetsNothingRawOfTheHostileCorpus) {
  const char* corpus = std::getenv("FATHOM_CORPUS");
  const std::string folder =
      std::string(corpus != nullptr ? corpus : FATHOM_SOURCE_DIR "/../shared/corpus") + "/hostile/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const char* name : {"esc2.json", "f_esc.pftrace", "p_esc.pickle"}) {
    SCOPED_TRACE(name);
    expect_clean(run(folder + name));
    if (std::string(GetParam()) != "convert") expect_clean(run(folder + name, {"--json"}));
  }
}

INSTANTIATE_TEST_SUITE_P(EachCommand, Terminal,
                         ::testing::Values("report", "flame", "timeline", "memory", "hta",
                                           "compare", "suggest", "convert"),
                         [](const auto& test) { return std::string(test.param); });

// The other commands, each with what it reads and shows.
class OtherTerminal : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"FATHOM_MACHINE_PROFILE", "BROWSER", "TMPDIR", "FATHOM_ROUTE"}) {
      unsetenv(name);
    }
  }
  Outcome expect_clean(const std::vector<std::string>& words, RunOptions options = {}) const {
    if (options.folder == ".") options.folder = scratch_.path("");
    const Outcome outcome = run_program(words, options);
    const bool is_killed = std::find(words.begin(), words.end(), "raise") != words.end();
    EXPECT_EQ(outcome.signal, is_killed ? SIGTERM : 0) << words[0];
    EXPECT_EQ(found_in("\n" + outcome.out), "") << words[0];
    EXPECT_EQ(found_in("\n" + outcome.err), "") << words[0];
    return outcome;
  }

  static constexpr const char* kEvil = "\x1b[2J\u202e\x07\nFORGED\xFF";
  const Scratch scratch_;
};

TEST_F(OtherTerminal, GetsNothingRawOfACommandItsScopesAndItsBuildLogs) {
  const std::string program = FATHOM_BINARY_DIR "/bin/scoped_program";
  for (const char* command : {"profile", "memory"}) {
    const std::string run = scratch_.path(std::string(command) + kEvil + ".pftrace");
    const Outcome outcome = expect_clean({command, "-o", run, "--", program, "named", kEvil});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const Outcome again = expect_clean({"report", run, "--json"});
    EXPECT_TRUE(nlohmann::json::accept(again.out));
    expect_clean({command, "--", program, "raise", kEvil});
    expect_clean({command, "--", scratch_.path(kEvil)});
    expect_clean({command, "-o", scratch_.path(std::string(kEvil) + "/x"), "--", "true"});
  }
  const Outcome built = expect_clean({"profile", "-o", "log.pftrace", "--",
                                      FATHOM_BINARY_DIR "/bin/opencl_program", "evil-build"});
  EXPECT_NE(built.err.find("failed with error"), std::string::npos) << built.err;
}

// What a library says inside the program that it records.
TEST_F(OtherTerminal, GetsNothingRawOfTheNameOfARunFile) {
  const std::string line = "FATHOM_RUN_FILE=\"$(printf '/nowhere\\033[2J\\007/x')\" " +
                           std::string(FATHOM_BINARY_DIR "/bin/scoped_program scopes 1 2> ") +
                           scratch_.path("err");
  EXPECT_EQ(system(line.c_str()), 0);
  const std::string said = content_of(scratch_.path("err"));
  EXPECT_NE(said.find("/nowhere"), std::string::npos);
  EXPECT_EQ(found_in(said), "");
}

TEST_F(OtherTerminal, GetsNothingRawOfATraceThatIsOpened) {
  setenv("TMPDIR", scratch_.path("").c_str(), 1);
  setenv("BROWSER", (std::string("/nowhere/") + kEvil).c_str(), 1);
  expect_clean({"open", scratch_.write(std::string("a") + kEvil + ".json", hostile_trace())});
  expect_clean({"open", scratch_.path(kEvil)});
}

TEST_F(OtherTerminal, GetsNothingRawOfALogOfACompiler) {
  const std::string name = hostile("f");
  const std::string log =
      R"(V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "x"}
	Graph break in user code at /me/)" +
      std::string("\x1b[2J\x07\u202e") + R"(model.py:31
	Graph Break Reason: )" +
      std::string("\x1b[2J\x07\u202e\xFF") + R"(
V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1045] {"compilation_metrics": {"co_name": )" +
      name + R"(, "co_filename": )" + name +
      R"(, "co_firstlineno": 29, "dynamo_cumulative_compile_time_us": 2000000, "fail_type": )" +
      name + R"(, "fail_reason": )" + name +
      R"(}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V0721 16:11:55.958000 98102 torch/_dynamo/guards.py:3564] {"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0, "has_payload": "x"}
	[)" +
      name + R"(]
)";
  const std::string path = scratch_.write(std::string("log") + kEvil, log);
  const Outcome text = expect_clean({"compile", path});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(nlohmann::json::accept(expect_clean({"compile", path, "--json"}).out));
  const std::string trace = scratch_.write("trace.json", hostile_trace());
  EXPECT_EQ(expect_clean({"suggest", trace, "--compile", path}).status, 0);
  expect_clean({"compile", scratch_.path(kEvil)});
}

TEST_F(OtherTerminal, GetsNothingRawOfAHistoryOfRuns) {
  std::vector<std::string> words = {"compare", "--history"};
  for (int i = 0; i < 5; ++i) {
    words.push_back(scratch_.write(std::to_string(i) + kEvil + ".json", hostile_trace()));
  }
  EXPECT_EQ(expect_clean(words).status, 0);
  words.emplace_back("--json");
  EXPECT_TRUE(nlohmann::json::accept(expect_clean(words).out));
}

TEST_F(OtherTerminal, GetsNothingRawOfAMachineProfile) {
  const std::string device = hostile("gpu");
  const std::string path = scratch_.path(std::string("machine") + kEvil + ".json");
  setenv("FATHOM_MACHINE_PROFILE", path.c_str(), 1);
  for (const std::string& machine : {hostile("a machine"), hostile("another")}) {
    scratch_.write(std::string("machine") + kEvil + ".json",
                   R"({"fathom_machine":1,"machine":)" + machine +
                       R"(,"devices":[{"name":"cpu"},{"name":)" + device +
                       R"(}],"curves":[{"operation":"matmul","device":)" + device +
                       R"(,"calls":[[4,1],[8,2]]}],"routes":{"matmul":)" + device + "}}");
    expect_clean({"route", "matmul", "1024"});
    expect_clean({"route", "matmul", "1024", "--where", kEvil});
    expect_clean({"route", kEvil, "1024"});
  }
  setenv("FATHOM_ROUTE", kEvil, 1);
  expect_clean({"route", "matmul", "1024"});
  unsetenv("FATHOM_ROUTE");
  expect_clean({"tune", "-o", scratch_.write(std::string("notes") + kEvil, "mine")});
  const std::string trace = scratch_.write("trace.json", hostile_trace());
  expect_clean({"tune", "-o", path, "--from", trace});
}

TEST_F(OtherTerminal, GetsNothingRawOfServersFilesAndSettings) {
  const std::string evil = kEvil;
  expect_clean({"audit", "verify", scratch_.write("audit" + evil, hostile("line") + "\n")});
  expect_clean({"audit", "verify", scratch_.path(evil)});
  expect_clean({"token", "admin", "--name", evil, "--file", scratch_.path("tokens")});
  expect_clean({"token", "admin", "--file", scratch_.path("no" + evil + "/tokens")});
  expect_clean({"monitor", "--once", "--config",
                scratch_.write("yaml" + evil, "gpu_profiler:\n  \x1b[2J\x07: \u202e\n")});
  expect_clean({"serve", "--token-file", scratch_.write("tokens" + evil, "admin \x1b[2J\x07 x\n")});
  expect_clean({"serve", "--demo", "--config", scratch_.path(evil)});
  expect_clean({"serve", scratch_.path(evil)});
  expect_clean({"devices", "--json", scratch_.write("devices" + evil, "mine")});
  expect_clean({"completion", evil});
  expect_clean({"help", evil});
}

}  // namespace fathom::cli::terminal_test
