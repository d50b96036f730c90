#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/run_program.h"
#include "deflated.h"
#include "trace/sqlite_file.h"

// Whatever a command is given, it answers with one clear line and status 2, and leaves nothing
// behind.
namespace fathom::cli::wrong_input_test {

constexpr const char* kPng = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

void expect_one_line(const Outcome& outcome, const std::string& mentions) {
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("fathom: ", 0), 0U) << outcome.err;
  EXPECT_NE(outcome.err.find(mentions), std::string::npos) << outcome.err;
}

class WrongInput : public ::testing::TestWithParam<const char*> {
 protected:
  // The command under test, reading `input`.
  Outcome run(const std::string& input) const {
    std::vector<std::string> arguments = {GetParam(), input};
    if (std::string(GetParam()) == "convert") arguments.push_back(out());
    if (std::string(GetParam()) == "compare") arguments.insert(arguments.end(), {"--with", input});
    return run_program(arguments);
  }
  std::string out() const { return scratch_.path("out.json"); }
  void TearDown() override { EXPECT_FALSE(std::filesystem::exists(out())); }

  Scratch scratch_;
};

TEST_P(WrongInput, MissingFile) {
  expect_one_line(run(scratch_.path("nowhere.json")), "nowhere.json");
}

TEST_P(WrongInput, Directory) {
  expect_one_line(run(scratch_.path(".")), "directory");
}

TEST_P(WrongInput, EmptyFile) {
  expect_one_line(run(scratch_.write("empty.json", "")), "empty");
}

TEST_P(WrongInput, Picture) {
  expect_one_line(run(scratch_.write("photo.png", std::string(kPng, 16))), "PNG image");
}

TEST_P(WrongInput, CutOffGzip) {
  const std::string whole = deflated(R"({"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]})");
  expect_one_line(run(scratch_.write("cut.json.gz", whole.substr(0, 14))), "cut.json.gz");
}

TEST_P(WrongInput, JsonThatIsNoTrace) {
  expect_one_line(run(scratch_.write("package.json", R"({"name": "x", "version": "1"})")),
                  "package.json");
}

TEST_P(WrongInput, Text) {
  expect_one_line(run(scratch_.write("notes.txt", "hello\n")), "notes.txt");
}

TEST_P(WrongInput, DatabaseThatIsNoExport) {
  const std::string file = trace::testing::sqlite_file("CREATE TABLE users (id INTEGER)");
  expect_one_line(run(scratch_.write("users.db", file)), "Nsight Systems export");
}

TEST_P(WrongInput, CutOffDatabase) {
  const std::string file = trace::testing::sqlite_file(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE TABLE NVTX_EVENTS (start INTEGER)");
  expect_one_line(run(scratch_.write("cut.sqlite", file.substr(0, 2000))), "cut off");
  expect_one_line(run(scratch_.write("cut.sqlite", file.substr(0, 20))), "cut off");
}

TEST_P(WrongInput, PickleThatIsNoSnapshot) {
  expect_one_line(run(scratch_.write("numbers.pickle",
                                     "\x80\x04]\x94(K\x01K\x02"
                                     "e.")),
                  "not a memory snapshot");
}

TEST_P(WrongInput, PickleThatRunsAProgram) {
  const std::string trap = scratch_.path("trap");
  const std::string file = "cposix\nsystem\n(S'touch " + trap + "'\ntR.";
  expect_one_line(run(scratch_.write("evil.pickle", file)), "posix.system");
  expect_one_line(run(scratch_.write("evil.pickle", "\x80\x02" + file)), "posix.system");
  EXPECT_FALSE(std::filesystem::exists(trap));
}

TEST_P(WrongInput, NoArgument) {
  if (GetParam() == std::string("open")) GTEST_SKIP() << "without a file it opens an empty page";
  expect_one_line(run_program({GetParam()}), "required");
}

INSTANTIATE_TEST_SUITE_P(EachCommand, WrongInput,
                         ::testing::Values("report", "open", "flame", "timeline", "memory", "hta",
                                           "compare", "suggest", "convert"),
                         [](const auto& test) { return std::string(test.param); });

TEST(WrongUsage, UnknownCommandUnknownOptionAndNothingAtAll) {
  expect_one_line(run_program({"explode"}), "unknown command 'explode'. Try: fathom --help");
  expect_one_line(run_program({"--explode"}), "unknown option '--explode'. Try: fathom --help");
  expect_one_line(run_program({"report", "--explode", "x"}),
                  "unknown option '--explode'. Try: fathom report --help");
  expect_one_line(run_program({"report", "--explode"}), "unknown option '--explode'");
  expect_one_line(run_program({"report", "a", "b"}), "unexpected argument 'b'");
  expect_one_line(run_program({"report", "a", "--top", "1", "--top", "2"}), "more than once");
  expect_one_line(run_program({"help", "explode"}), "unknown command 'explode'");
  expect_one_line(run_program({"flame", "a", "--folded", "--speedscope"}),
                  "--folded and --speedscope cannot be combined");
  expect_one_line(run_program({}), "a command is required. Try: fathom --help");
  expect_one_line(run_program({"completion", "tcsh"}), "expected bash, zsh or fish");
}

TEST(WrongUsage, NumbersAreCheckedInPlainWords) {
  expect_one_line(
      run_program({"compare", "a", "--with", "b", "--threshold", "abc"}),
      "--threshold: invalid number 'abc', expected 0.1 to 1000. Try: fathom compare --help");
  expect_one_line(run_program({"compare", "a", "--with", "b", "--threshold", "nan"}), "'nan'");
  expect_one_line(run_program({"compare", "a", "--with", "b", "--threshold"}),
                  "--threshold needs a value");
  expect_one_line(run_program({"compare", "--repeat", "1.5", "--", "true", ":::", "true"}),
                  "invalid whole number '1.5', expected 1 to 1000");
  expect_one_line(run_program({"flame", "a", "--min-duration-us", "-1"}),
                  "--min-duration-us: -1 is out of range, expected 0 or more");
  expect_one_line(run_program({"compare", "a", "--with", "b", "--threshold", "0"}),
                  "--threshold: 0 is out of range, expected 0.1 to 1000");
  for (const char* command : {"report", "memory", "hta", "compare", "suggest"}) {
    expect_one_line(run_program({command, "a", "--top", "-1"}),
                    "-1 is out of range, expected 0 or more");
  }
}

TEST(WrongUsage, AnEmptyNameIsNoFile) {
  expect_one_line(run_program({"report", ""}), "FILE is empty");
}

TEST(WrongUsage, OfAFileThatIsReadNothingIsRecorded) {
  const Scratch scratch;
  const std::string file = scratch.write("a.json", "[]");
  expect_one_line(run_program({"memory", file, "--interval", "5"}),
                  "--interval applies only when a program is recorded");
  expect_one_line(run_program({"memory", file, "--force"}),
                  "--force applies only when a program is recorded");
}

TEST(WrongUsage, SaysWhatToDoWithADirectoryOrAnUnexportedReport) {
  const Scratch scratch;
  const std::string folder = scratch.path("my traces");
  std::filesystem::create_directory(folder);
  expect_one_line(run_program({"report", folder}), "fathom hta '" + folder + "'");
  const std::string nsys = scratch.write("run.nsys-rep", std::string("\x01\x02\0\x03", 4));
  expect_one_line(run_program({"report", nsys}), "nsys export --type sqlite " + nsys);
  const std::string image = scratch.write("image.nsys-rep", "\x89PNG\r\n\x1A\n");
  expect_one_line(run_program({"report", image}), "PNG image. Fathom reads");
  const std::string ncu = scratch.write("run.ncu-rep", std::string("\x01\x02\0\x03", 4));
  expect_one_line(run_program({"report", ncu}), "Nsight Compute reports are not supported");
}

TEST(WrongUsage, ConvertRefusesItsOwnInputAndUnknownEndings) {
  const Scratch scratch;
  const std::string text = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])";
  const std::string in = scratch.write("in.json", text);
  expect_one_line(run_program({"convert", in, in}), "not overwritten");
  expect_one_line(run_program({"convert", in, scratch.path("out.xyz")}), "out.xyz");
  expect_one_line(run_program({"convert", in, scratch.path("no/such/folder/out.json")}),
                  "out.json: cannot be written: the directory does not exist. Create it");
  EXPECT_EQ(content_of(in), text);
}

}  // namespace fathom::cli::wrong_input_test
