// Where answers go: --json [FILE], -o PAGE, the same for each command, and never over an input.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::outputs_test {

constexpr const char* kTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10, "dur": 40},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 60, "dur": 100,
   "args": {"stream": 7, "device": 0}}
]})";

class Outputs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { trace_ = scratch_.write("trace.json", kTrace); }

  // The command under test on the trace.
  Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {GetParam(), trace_};
    if (is("compare")) words.insert(words.end(), {"--with", scratch_.write("other.json", kTrace)});
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  bool is(const char* command) const { return std::string(GetParam()) == command; }

  void expect_refused(const std::vector<std::string>& more) const {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.status, 2) << more[0];
    EXPECT_EQ(outcome.out, "") << more[0];
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("not overwritten"), std::string::npos) << outcome.err;
    EXPECT_EQ(content_of(trace_), kTrace) << more[0];
  }

  Scratch scratch_;
  std::string trace_;
};

TEST_P(Outputs, NeverReplaceTheInput) {
  const std::string link = scratch_.path("link.html");
  const std::string hard_link = scratch_.path("hard.html");
  std::filesystem::create_symlink(trace_, link);
  std::filesystem::create_hard_link(trace_, hard_link);
  expect_refused({"--json", trace_});
  if (is("suggest")) return;  // has no page
  expect_refused({"-o", link});
  expect_refused({"--output", hard_link});
}

TEST_P(Outputs, JsonGoesToStandardOutputOrToAFileBesideTheText) {
  const Outcome alone = run({"--json"});
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_TRUE(nlohmann::json::accept(alone.out)) << alone.out;
  const std::string file = scratch_.path("answer.json");
  for (int twice = 0; twice < 2; ++twice) {  // over an earlier answer, too
    const Outcome beside = run({"--json", file});
    EXPECT_EQ(beside.status, 0) << beside.err;
    EXPECT_EQ(beside.out, run({}).out);
    EXPECT_EQ(content_of(file), alone.out);
  }
}

TEST_P(Outputs, JsonReplacesNothingElse) {
  if (is("hta")) return;  // takes it for another trace
  const std::string other = scratch_.write("package.json", "{\"name\" : \"x\"}");
  EXPECT_EQ(run({"--json", other}).status, 2);
  EXPECT_EQ(content_of(other), "{\"name\" : \"x\"}");
}

TEST_P(Outputs, TheWordAfterJsonIsTheInputWhereThereIsNoOther) {
  const std::string json = run({"--json"}).out;
  std::vector<std::string> words = {GetParam(), "--json", trace_};
  if (is("compare")) words.insert(words.end(), {"--with", scratch_.path("other.json")});
  if (is("flame") || is("timeline")) words.insert(words.end(), {"--min-duration-us", "1"});
  if (is("report") || is("memory")) words.insert(words.end(), {"--top", "3"});
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, json);
  EXPECT_EQ(content_of(trace_), kTrace);
}

TEST_P(Outputs, APageIsNoJson) {
  if (is("suggest")) return;  // has no page
  const std::string name = scratch_.path("page.json");
  const Outcome refused = run({"-o", name});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--json " + name), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_EQ(run({"--json", "-o", name}).status, 0);
  EXPECT_TRUE(nlohmann::json::accept(content_of(name)));
  const std::string page = scratch_.path("page.html");
  const Outcome both = run({"--json", "-o", page});
  EXPECT_TRUE(nlohmann::json::accept(both.out)) << both.out;
  EXPECT_NE(content_of(page).find("<html"), std::string::npos);
}

TEST_P(Outputs, ThatAFullDiskSwallowedAreAFailure) {
  std::string events = "[";  // more than one buffer full of them
  for (int i = 0; i < 3000; ++i) {
    events += (i == 0 ? "" : ",") + std::string(R"({"ph":"X","cat":"kernel","pid":0,"tid":7,)") +
              R"("dur":1,"args":{"stream":7,"device":0},"name":"kernel_)" + std::to_string(i) +
              R"(","ts":)" + std::to_string(i * 2) + "}";
  }
  const std::string trace = scratch_.write("many.json", events + "]");
  for (const char* how : {"--json", "text"}) {
    std::vector<std::string> words = {GetParam(), trace};
    if (is("compare")) words.insert(words.end(), {"--with", trace});
    if (std::string(how) == "--json") words.emplace_back("--json");
    const Outcome outcome = run_program(words, {.output = "/dev/full"});
    EXPECT_EQ(outcome.status, 2) << how;
    EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
  }
}

INSTANTIATE_TEST_SUITE_P(EachCommand, Outputs,
                         ::testing::Values("report", "flame", "timeline", "memory", "hta",
                                           "compare", "suggest"),
                         [](const auto& test) { return std::string(test.param); });

// A regression, or a log that was changed, is an answer too, and nobody had it.
TEST(OutputFiles, ThatAFullDiskSwallowedAreAFailureWhateverTheAnswerWas) {
  const Scratch scratch;
  const auto run_of = [&](const std::string& name, int us) {
    std::string events;
    for (int i = 0; i < 20; ++i) {
      events += (i == 0 ? "" : ",") +
                std::string(R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":)") +
                std::to_string(i * 1000) + R"(,"dur":)" + std::to_string(us) + "}";
    }
    return scratch.write(name, "[" + events + "]");
  };
  const std::string before = run_of("before.json", 100);
  const std::string now = run_of("now.json", 300);
  const std::string log = scratch.write("audit", "not a line of the log\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", before, "--with", now, "--gate", "--single-run-gate",
                                 "--json"},
        {"audit", "verify", log}}) {
    EXPECT_EQ(run_program(words).status, 1) << words[0];
    const Outcome lost = run_program(words, {.output = "/dev/full"});
    EXPECT_EQ(lost.status, 2) << words[0];
    EXPECT_EQ(lost.err, "fathom: standard output: cannot write\n");
  }
}

TEST(OutputFiles, ThatAreForeignAreRefusedBeforeThereIsWorkToLose) {
  const Scratch scratch;
  const RunOptions here = {.folder = scratch.path("")};
  const std::string mine = scratch.write("package.json", "{\"name\" : \"x\"}");
  const std::string trace = scratch.write("trace.json", kTrace);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"profile", "--json", mine, "--", "touch", "ran"},
        {"memory", "--json", mine, "--", "touch", "ran"},
        {"compare", "--repeat", "1", "--json", mine, "--", "touch", "ran", ":::", "touch", "ran"},
        {"tune", "--no-cuda", "--no-opencl", "-o", "ran", "--json", mine},
        {"report", "nothing of this name", "--json", mine}}) {
    const Outcome outcome = run_program(words, here);
    EXPECT_EQ(outcome.status, 2) << words[0];
    EXPECT_EQ(outcome.err,
              "fathom: " + mine +
                  ": exists and is not JSON from this command, so it is not overwritten. Name "
                  "another file, or put --json last to print to standard output\n");
    EXPECT_FALSE(std::filesystem::exists(scratch.path("ran"))) << words[0];
    EXPECT_EQ(content_of(mine), "{\"name\" : \"x\"}");
  }
}

TEST(OutputFiles, AMachineProfileReplacesNothingElse) {
  const Scratch scratch;
  const auto tune = [&](const std::string& output, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"tune", "--no-cuda", "--no-opencl", "-o", output};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {.folder = scratch.path("")});
  };
  const std::string trace = scratch.write("trace.json", kTrace);
  Outcome refused = tune(trace);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "fathom: " + trace +
                             ": exists and is not a machine profile, so it is not overwritten. "
                             "Name another file with -o\n");
  EXPECT_EQ(content_of(trace), kTrace);
  EXPECT_EQ(tune("/dev/null").status, 2);
  refused = tune("-");
  EXPECT_EQ(refused.status, 2);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("-")));
  refused = tune("x.json", {"--json", "./x.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("named for both the machine profile and --json"), std::string::npos)
      << refused.err;
  // Its own run is what it learns from, not what it writes.
  EXPECT_EQ(tune(trace, {"--from", trace}).status, 2);
  EXPECT_EQ(content_of(trace), kTrace);
  // One that was edited by hand or cut off is one all the same.
  const std::string edited = scratch.write("edited.json", "\n{ \"fathom_machine\": 1, \"dev");
  const Outcome learns = tune(edited, {"--from", scratch.write("other.json", kTrace)});
  EXPECT_NE(learns.err.find("no operation of the runtime library"), std::string::npos)
      << learns.err;
}

TEST(OutputFiles, SayWhatAProfileLeavesOut) {
  const Scratch scratch;
  const std::string profile = scratch.path("out.profile.json");
  const Outcome outcome = run_program(
      {"convert",
       scratch.write("in.json",
                     R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":9},
         {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1,"args":{"stream":7}}])"),
       profile});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("fathom: " + profile +
                             ": 1 of 2 spans written (a profile holds no "
                             "GPU work), "),
            std::string::npos)
      << outcome.out;
}

TEST(OutputFiles, AreNotOneForThePageAndTheJson) {
  const Scratch scratch;
  const std::string trace = scratch.write("trace.json", kTrace);
  const std::string page = scratch.path("x.html");
  for (const std::string& json : {page, scratch.path("./x.html")}) {
    const Outcome outcome = run_program({"report", trace, "-o", page, "--json", json});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("named for both -o and --json. Name two different files"),
              std::string::npos)
        << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(page));
  }
}

TEST(OutputFiles, AreNotOneForTwoAnswers) {
  const Scratch scratch;
  const std::string trace = scratch.write("trace.json", kTrace);
  const std::string one = scratch.path("one.json");
  const Outcome outcome = run_program({"timeline", trace, "--chrome", one, "--json", one});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("named for both --chrome and --json"), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(one));
}

TEST(Inputs, AreNotReplacedByOtherFormats) {
  const Scratch scratch;
  const std::string trace = scratch.write("trace.json", kTrace);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"convert", trace, scratch.path("./trace.json")},
        {"timeline", trace, "--chrome", trace},
        {"flame", trace, "--folded", "-o", trace},
        {"flame", trace, "--speedscope", "-o", trace}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words[0];
    EXPECT_NE(outcome.err.find("not overwritten"), std::string::npos) << outcome.err;
    EXPECT_EQ(content_of(trace), kTrace);
  }
}

TEST(Inputs, OfADirectoryAreNotReplacedButEarlierFindingsAre) {
  const Scratch scratch;
  const std::string trace = scratch.write("rank0.json", kTrace);
  const std::string page = scratch.path("page.zst");  // looks like a trace, by its name
  std::filesystem::create_hard_link(trace, page);
  const Outcome outcome = run_program({"hta", scratch.path(""), "-o", page});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(content_of(page), kTrace);
  std::filesystem::remove(page);
  for (int twice = 0; twice < 2; ++twice) {
    const Outcome findings =
        run_program({"hta", scratch.path(""), "--json", scratch.path("findings.json")});
    EXPECT_EQ(findings.status, 0) << findings.err;
    EXPECT_EQ(findings.err.find("left out"), std::string::npos) << findings.err;
  }
}

TEST(Inputs, OfARecordedProgramAreItsFilesToo) {
  const Scratch scratch;
  const std::string script = scratch.write("train.sh", "exit 0\n");
  for (const char* command : {"profile", "memory"}) {
    for (const char* option : {"-o", "--json"}) {
      const Outcome outcome =
          run_program({command, option, script, "--", "sh", script}, {.folder = scratch.path("")});
      EXPECT_EQ(outcome.status, 2) << command << option;
      EXPECT_EQ(content_of(script), "exit 0\n");
    }
  }
}

TEST(Memory, JsonOfAProgramGoesToAFileOrToStandardErrorAndTheProgramKeepsItsOptions) {
  const Scratch scratch;
  const RunOptions here = {.folder = scratch.path("")};
  const Outcome alone = run_program({"memory", "--json", "--", "sh", "-c", "echo out"}, here);
  EXPECT_EQ(alone.out, "out\n");
  EXPECT_EQ(nlohmann::json::parse(alone.err)["source"], "run.pftrace");
  const Outcome beside =
      run_program({"memory", "--json", "memory.json", "--", "sh", "-c", "echo out"}, here);
  EXPECT_EQ(beside.out, "out\n");
  EXPECT_NE(beside.err.find("fathom memory run-2.pftrace"), std::string::npos) << beside.err;
  EXPECT_TRUE(nlohmann::json::accept(content_of(scratch.path("memory.json"))));
}

}  // namespace fathom::cli::outputs_test
