// Nothing from a file reaches a terminal as it is: whatever a trace is named and holds, each
// command's text and JSON are UTF-8 that moves no cursor, rings no bell and forges no line.
#include <gtest/gtest.h>

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

}  // namespace fathom::cli::terminal_test
