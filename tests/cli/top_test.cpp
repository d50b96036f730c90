// --top N: at most N rows in every table of every command, but for what parts of a whole it shows;
// 0: all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/run_program.h"

namespace fathom::cli::top_test {

constexpr int kNames = 30;

// So many host operations, each with a kernel, each on a thread and stream of its own.
std::string trace_of_many() {
  std::string events;
  for (int i = 0; i < kNames; ++i) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"cpu_op","name":"op{:02}","pid":9,"tid":{},"ts":{},"dur":40}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":{},"ts":{},"dur":10,"args":{{"correlation":{}}}}},
{{"ph":"X","cat":"kernel","name":"kernel{:02}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"correlation":{},"stream":{},"device":0}}}},
{{"ph":"i","s":"t","name":"[memory]","pid":9,"tid":{},"ts":{},"args":{{"Device Type":1,"Device Id":0,"Addr":{},"Bytes":{},"Total Allocated":{}}}}})",
        i == 0 ? "" : ",\n", i, i + 1, 100 * i, i + 1, 100 * i + 5, i + 1, i, i + 1, 100 * i + 50,
        20 + i, i + 1, i + 1, i + 1, 100 * i + 5, 4096 * (i + 1), 1024, 1024 * (i + 1));
  }
  return R"({"traceEvents":[)" + events + "]}";
}

// The most rows that a table of the text has: blocks of lines, of which the first is a header.
std::size_t most_rows(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t rows = 0;
  std::size_t most = 0;
  while (std::getline(lines, line)) {
    const bool is_row = line.starts_with("  ") && line.find("… ") == std::string::npos &&
                        line.find("how: ") == std::string::npos;
    rows = line.empty() ? 0 : rows + (is_row ? 1 : 0);
    most = std::max(most, rows);
  }
  return most > 0 ? most - 1 : 0;
}

class Top : public ::testing::TestWithParam<const char*> {
 protected:
  Outcome run(const std::string& top) const {
    std::vector<std::string> words = {GetParam(), trace_};
    if (std::string(GetParam()) == "compare") words.insert(words.end(), {"--with", trace_});
    words.insert(words.end(), {"--top", top});
    return run_program(words);
  }

  Scratch scratch_;
  std::string trace_ = scratch_.write("trace.json", trace_of_many());
};

TEST_P(Top, IsTheMostRowsOfATable) {
  const Outcome few = run("6");
  EXPECT_EQ(few.status, 0) << few.err;
  EXPECT_LE(most_rows(few.out), 7U) << few.out;  // and a sum
  EXPECT_NE(few.out.find(" more (--top "), std::string::npos) << few.out;
}

TEST_P(Top, OfZeroIsEveryRow) {
  const Outcome all = run("0");
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_GE(most_rows(all.out), std::size_t{kNames}) << all.out;
  EXPECT_EQ(all.out.find(" more (--top "), std::string::npos) << all.out;
}

INSTANTIATE_TEST_SUITE_P(EachCommand, Top,
                         ::testing::Values("report", "timeline", "memory", "hta", "compare"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace fathom::cli::top_test
