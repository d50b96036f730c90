#include "trace/read/input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "trace/read.h"
#include "trace/read/sniff.h"

namespace fathom::trace::input_test {

namespace fs = std::filesystem;

// A file that is there as long as the test.
class File {
 public:
  explicit File(const std::string& content) { std::ofstream(path(), std::ios::binary) << content; }
  ~File() { fs::remove(path()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  static std::string path() {
    return ::testing::TempDir() + std::to_string(getpid()) + "fathom_input_test";
  }
};

std::string error_of(const std::string& path) {
  try {
    read_trace(path);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_content(const std::string& content) {
  const File file(content);
  std::string text = error_of(File::path());
  const std::size_t at = text.find(File::path());
  return at == std::string::npos ? text : text.replace(at, File::path().size(), "F");
}

TEST(Input, WhatCannotBeReadIsOneLine) {
  EXPECT_EQ(error_of("/no/such/file"), "/no/such/file: no such file");
  EXPECT_EQ(error_of("/tmp"),
            "/tmp: is a directory, not a trace. If it holds the ranks of a job: fathom hta /tmp");
  EXPECT_EQ(error_of_content(""), "F: the file is empty. Record or export it again");
  EXPECT_EQ(
      error_of_content("\x89PNG\r\n\x1A\n"),
      "F: not a trace: PNG image. Fathom reads Kineto/Chrome JSON (.gz, .zst, .zip), "
      "Perfetto, Nsight Systems SQLite exports, PyTorch memory snapshots and Fathom's own runs "
      "and profiles");
  EXPECT_EQ(error_of_content(std::string("\x1F\x8B\x08\0\0\0\0", 7)),
            "F: the compressed data is cut off or damaged: nothing can be unpacked");
  EXPECT_EQ(error_of_content("{\"a\": 1}"),
            std::string("F: no traceEvents in this JSON. Fathom reads ") + kFormatsRead);
}

TEST(Input, ViewIsTheContent) {
  const File file("[1, 2, 3]");
  const auto input = Input::open(File::path());
  EXPECT_EQ(input->view(), "[1, 2, 3]");
  EXPECT_EQ(input->head(), "[1, 2, 3]");
  EXPECT_EQ(input->packing(), Packing::none);
}

TEST(Sniff, TellsFormatsByContent) {
  const auto format = [](std::string_view head) { return sniff(head).format; };
  EXPECT_EQ(format("[]"), Format::chrome_json);
  EXPECT_EQ(format("\xEF\xBB\xBF {\"traceEvents\": ["), Format::chrome_json);
  EXPECT_EQ(format(R"({"schemaVersion": 1, "summary": {"x": 1)"), Format::profile_json);
  EXPECT_EQ(format(R"({"schemaVersion": 1, "args": {"summary": 1}, "traceEvents": [)"),
            Format::chrome_json);
  EXPECT_EQ(format(R"({"x": "summary", "traceEvents": [)"), Format::chrome_json);
  EXPECT_EQ(format(R"({"ph": "X", "name": "entries"})"), Format::chrome_json);
  EXPECT_EQ(format(R"({"fathom": "0.1.0", "run": {})"), Format::profile_json);
  EXPECT_EQ(format(R"({"entries": [], "summary": {}})"), Format::profile_json);
  EXPECT_EQ(format(R"([{"operation": "a", "duration_ms": 1}])"), Format::profile_json);
  EXPECT_EQ(format(R"([{"name": "operation", "ph": "X", "operation": 1}])"), Format::chrome_json);
  EXPECT_EQ(format("\n\n{\"traceEvents\": [\n"), Format::chrome_json);
  EXPECT_EQ(format("\x0A\x06\x40\x01\x50\x02\x58\x03\x0A\x02\x40\x01"), Format::perfetto);
  EXPECT_EQ(format("PK\x03\x04"), Format::foreign);
  EXPECT_EQ(sniff("hello").what, "text");
  EXPECT_EQ(format(std::string_view("SQLite format 3\0", 16)), Format::sqlite);
  EXPECT_EQ(format("\x80\x04\x95"), Format::pickle);
  EXPECT_EQ(format("(dp0\nVsegments\n"), Format::pickle);
  EXPECT_EQ(format("cos\nsystem\n(S'ls'\ntR."), Format::pickle);
}

TEST(InputFile, ThatIsCutWhileItIsReadEndsInOneLine) {
  const File file(std::string(5 * 65536, 'x'));
  const auto input = Input::open(File::path());
  const std::string_view content = input->view();
  EXPECT_EQ(content[4 * 65536], 'x');
  EXPECT_FALSE(input->was_cut());
  fs::resize_file(File::path(), 65536);
  EXPECT_EQ(content[4 * 65536], '\0');
  EXPECT_EQ(content[65535], 'x');
  EXPECT_TRUE(input->was_cut());
}

TEST(InputFile, ThatIsCutBeforeItsArgumentsAreAskedForSaysSo) {
  std::string events = "[";
  for (int i = 0; i < 2000; ++i) {
    events +=
        (i == 0 ? "" : ",") + std::string(R"({"ph":"X","name":"a","pid":1,"tid":1,"dur":1,)") +
        R"("args":{"text":")" + std::string(100, 't') + R"("},"ts":)" + std::to_string(i) + "}";
  }
  const File file(events + "]");
  const Trace trace = read_trace(File::path());
  EXPECT_NE(trace.args(1999), "");
  fs::resize_file(File::path(), 4096);
  EXPECT_NE(trace.args(0), "");
  try {
    trace.args(1500);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.problem(), "became shorter while it was read");
  }
}

}  // namespace fathom::trace::input_test
