// "-" as the name of a file: standard input where one is read, standard output where one is
// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::standard_streams_test {

constexpr const char* kTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10, "dur": 40},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 60, "dur": 100,
   "args": {"stream": 7, "device": 0}}
]})";

// What a shell prints of a line in which "fathom" is the program; its status is the last line.
std::string shell(const std::string& line) {
  const std::string whole = "fathom() { " FATHOM_BINARY_DIR "/bin/fathom \"$@\"; }; { " + line +
                            "; } 2>&1; echo \"status $?\"";
  std::FILE* const pipe = popen(whole.c_str(), "r");
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

class Standard : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { trace_ = scratch_.write("trace.json", kTrace); }
  bool is(const char* command) const { return std::string(GetParam()) == command; }

  // The command's words with `file` as its input.
  std::vector<std::string> words(const std::string& file,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {GetParam(), file};
    if (is("compare")) all.insert(all.end(), {"--with", trace_});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void expect_one_line(const Outcome& outcome, const std::string& line) const {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, line);
  }

  Scratch scratch_;
  std::string trace_;
};

TEST_P(Standard, InputIsReadFromAPipeAndFromAFile) {
  nlohmann::json named = nlohmann::json::parse(run_program(words(trace_, {"--json"})).out);
  const Outcome redirected = run_program(words("-", {"--json"}), {.input = trace_});
  EXPECT_EQ(redirected.status, 0) << redirected.err;
  EXPECT_EQ(redirected.err, "");
  nlohmann::json from_file = nlohmann::json::parse(redirected.out);
  const std::string with = is("compare") ? " --with " + trace_ : "";
  const std::string piped =
      shell("gzip -c " + trace_ + " | fathom " + GetParam() + " -" + with + " --json");
  ASSERT_TRUE(piped.ends_with("status 0\n")) << piped;
  nlohmann::json from_pipe = nlohmann::json::parse(piped.substr(0, piped.rfind("status")));
  for (nlohmann::json* found : {&named, &from_file, &from_pipe}) {  // the name alone differs
    for (const char* at : {"/source", "/run/source", "/ranks/0/source", "/baseline/0"}) {
      const nlohmann::json::json_pointer name(at);
      if (found->contains(name)) {
        EXPECT_EQ((*found)[name], found == &named ? trace_ : "-");
        (*found)[name] = "";
      }
    }
  }
  EXPECT_EQ(from_file, named);
  EXPECT_EQ(from_pipe, named);
}

TEST_P(Standard, OutputTakesJsonOrThePage) {
  EXPECT_EQ(run_program(words(trace_, {"--json", "-"})).out,
            run_program(words(trace_, {"--json"})).out);
  if (is("suggest")) return;  // has no page
  const std::string page = scratch_.path("page.html");
  ASSERT_EQ(run_program(words(trace_, {"-o", page})).status, 0);
  const Outcome outcome =
      run_program(words(trace_, {"-o", "-", "--json", scratch_.path("j.json")}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, content_of(page));  // no text beside it
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_P(Standard, OutputTakesOneOutput) {
  if (is("suggest")) return;  // has no page
  const std::string line =
      "fathom: standard output: would get more than one output. Name a file for all but one of "
      "them\n";
  expect_one_line(run_program(words(trace_, {"-o", "-", "--json", "-"})), line);
  expect_one_line(run_program(words(trace_, {"-o", "-", "--json"})), line);
}

TEST_P(Standard, InputThatIsNoTraceIsToldInOneLine) {
  expect_one_line(run_program(words("-")),
                  "fathom: standard input: the file is empty. Record or export it again\n");
}

INSTANTIATE_TEST_SUITE_P(EachCommand, Standard,
                         ::testing::Values("report", "flame", "timeline", "memory", "hta",
                                           "compare", "suggest"),
                         [](const auto& test) { return std::string(test.param); });

class StandardFiles : public ::testing::Test {
 protected:
  Scratch scratch_;
  std::string trace_ = scratch_.write("trace.json", kTrace);
};

TEST_F(StandardFiles, InputIsReadOnce) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", "-", "--with", "-"}, {"hta", "-", "-"}}) {
    const Outcome outcome = run_program(words, {.input = trace_});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "fathom: standard input: can be read only once. Name files for the others\n");
  }
}

TEST_F(StandardFiles, InputIsReadFromWhereItIs) {
  const std::string behind = scratch_.write("behind", "12345" + std::string(kTrace));
  EXPECT_NE(shell("{ dd bs=5 count=1 status=none of=/dev/null; fathom report -; } < " + behind)
                .find("sgemm"),
            std::string::npos);
}

TEST_F(StandardFiles, OutputTakesTracesOfANamedFormat) {
  for (const auto& [format, ending] : {std::pair<std::string, std::string>{"chrome", "json"},
                                       {"perfetto", "pftrace"},
                                       {"profile", "profile.json"}}) {
    const std::string named = scratch_.path("out." + ending);
    ASSERT_EQ(run_program({"convert", trace_, named}).status, 0);
    const Outcome outcome =
        run_program({"convert", "-", "-", "--format", format}, {.input = trace_});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, content_of(named));
  }
  const Outcome unnamed = run_program({"convert", trace_, "-"});
  EXPECT_EQ(unnamed.status, 2);
  EXPECT_EQ(unnamed.err,
            "fathom: standard output has no name that says which format to write. Add --format "
            "chrome, perfetto or profile\n");
}

TEST_F(StandardFiles, OutputTakesWhatOtherProgramsRead) {
  const std::string chrome = run_program({"timeline", trace_, "--chrome", "-"}).out;
  EXPECT_TRUE(nlohmann::json::parse(chrome).contains("traceEvents"));
  EXPECT_EQ(run_program({"timeline", trace_, "--chrome", "-", "--json"}).status, 2);
  EXPECT_EQ(run_program({"flame", trace_, "--folded", "-o", "-"}).out,
            run_program({"flame", trace_, "--folded"}).out);
}

TEST_F(StandardFiles, OutputIsTheRecordedPrograms) {
  for (const char* command : {"profile", "memory"}) {
    for (const char* option : {"-o", "--json"}) {
      const Outcome outcome =
          run_program({command, option, "-", "--", "echo", "hello"}, {.folder = scratch_.path("")});
      EXPECT_EQ(outcome.status, 2);
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(outcome.err, std::string("fathom: ") + option +
                                 " -: standard output is the program's. Name a file\n");
    }
  }
}

// Logs and settings are read from a pipe, too; what is read and written again needs a name.
TEST_F(StandardFiles, OtherThanTracesAreReadAndThoseThatAreWrittenToAreRefused) {
  const std::string log = scratch_.write("audit", "not a line of the log\n");
  EXPECT_EQ(run_program({"audit", "verify", "-"}, {.input = log}).status, 1);
  const std::string settings =
      scratch_.write("fathom.yaml", "gpu_profiler:\n  monitoring_interval_seconds: much\n");
  const Outcome wrong = run_program({"monitor", "--once", "--config", "-"}, {.input = settings});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("much"), std::string::npos) << wrong.err;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"token", "admin", "--file", "-"}, {"tune", "-o", "-"}}) {
    const Outcome refused = run_program(words, {.folder = scratch_.path("")});
    EXPECT_EQ(refused.status, 2) << words[0];
    EXPECT_NE(refused.err.find("is ./-"), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(scratch_.path("-")));
  }
}

// A trace that is there may be one that cannot be recorded again.
TEST_F(StandardFiles, TracesAndForeignFilesAreNotOverwritten) {
  const std::string other = scratch_.write("other.json", "[] of somebody");
  const std::string notes = scratch_.write("notes.txt", "mine");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"convert", trace_, other},
                                                {"timeline", trace_, "--chrome", other},
                                                {"flame", trace_, "--folded", "-o", other},
                                                {"report", trace_, "-o", notes},
                                                {"hta", trace_, "-o", notes},
                                                {"compare", trace_, "--with", trace_, "-o", notes},
                                                {"flame", trace_, "-o", notes},
                                                {"timeline", trace_, "-o", notes},
                                                {"memory", trace_, "-o", notes}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words[0];
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("not overwritten"), std::string::npos) << outcome.err;
    EXPECT_EQ(content_of(other), "[] of somebody");
    EXPECT_EQ(content_of(notes), "mine");
  }
  EXPECT_EQ(run_program({"convert", trace_, other, "--force"}).status, 0);
  EXPECT_TRUE(nlohmann::json::accept(content_of(other)));
}

TEST_F(StandardFiles, OwnAnswersAreOverwritten) {
  for (const char* page : {"page.html", "page.html.gz"}) {
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_EQ(run_program({"report", trace_, "-o", scratch_.path(page)}).status, 0) << page;
      EXPECT_EQ(run_program({"flame", trace_, "-o", scratch_.path(page)}).status, 0) << page;
    }
  }
}

}  // namespace fathom::cli::standard_streams_test
