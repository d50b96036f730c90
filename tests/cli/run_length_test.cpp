// The run is the program's life, from its start to its end: every command means the same by it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/run_program.h"

namespace fathom::cli::run_length_test {

using nlohmann::json;

const std::string kOpencl = FATHOM_BINARY_DIR "/bin/opencl_program";
const std::string kScopes = FATHOM_BINARY_DIR "/bin/scoped_program";

class RunLength : public ::testing::Test {
 protected:
  Outcome fathom(const std::vector<std::string>& words) {
    return run_program(words, {.folder = scratch_.path(""), .columns = "200"});
  }
  Outcome record(const std::string& script, const std::string& file = "run.pftrace") {
    return fathom({"profile", "-o", file, "--", "sh", "-c", script});
  }
  json json_of(const std::vector<std::string>& words) { return json::parse(fathom(words).out); }

  Scratch scratch_;
};

TEST_F(RunLength, IsTheSameForEveryCommand) {
  record("sleep 0.3; " + kOpencl + " idle-gap; sleep 0.1");
  const json report = json_of({"report", "run.pftrace", "--json"});
  const double run_ms = report["session"]["total_time_ms"].get<double>();
  EXPECT_GE(run_ms, 600) << "300 ms before, 200 ms in the middle, 100 ms after";
  EXPECT_NEAR(report["run"]["duration_ns"].get<double>() / 1e6, run_ms, 1e-3);
  const json suggest = json_of({"suggest", "run.pftrace", "--json"});
  EXPECT_NEAR(suggest["run_ms"].get<double>(), run_ms, 1e-3);
  const json compare = json_of({"compare", "run.pftrace", "--with", "run.pftrace", "--json"});
  EXPECT_NEAR(compare["summary"]["overall"]["baseline_total_ms"].get<double>(), run_ms, 1e-3);
}

// Both sleep, so that a busy machine's share of the run is small on either side.
TEST_F(RunLength, AProgramThatSleepsBeforeItsFirstGpuCallIsSlower) {
  const Outcome outcome = fathom({"compare", "--repeat", "3", "--gate", "--", "sh", "-c",
                                  "sleep 0.3; " + kScopes + " slow 20", ":::", "sh", "-c",
                                  "sleep 1.3; " + kScopes + " slow 20"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("slower"), std::string::npos) << outcome.out;
}

TEST_F(RunLength, OfProgramsThatRecordNothingTheLengthIsCompared) {
  const Outcome outcome = fathom({"compare", "--repeat", "3", "--gate", "--", "sh", "-c",
                                  "sleep 0.3", ":::", "sh", "-c", "sleep 1.3"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("There are no operations on either side."), std::string::npos)
      << outcome.out;
}

// The host slept twice outside of any call. On a busy machine starting the program may take as
// long; that is no call either.
TEST_F(RunLength, AGapInWhichNothingWasRecordedIsNotBlamedOnACall) {
  const Outcome outcome = record("sleep 0.2; " + kOpencl + " idle-gap");
  const json session = json_of({"report", "run.pftrace", "--json"})["session"];
  std::size_t unexplained = 0;
  for (const json& gap : session["idle_gaps"]) {
    if (gap["duration_ms"] < 200) continue;
    ++unexplained;
    EXPECT_TRUE(gap["host"].is_null()) << gap;
  }
  EXPECT_GE(unexplained, 2U) << session["idle_gaps"];
  EXPECT_NE(outcome.err.find("(nothing recorded on the host)"), std::string::npos) << outcome.err;
  const json& first = session["bottlenecks"][0];
  EXPECT_EQ(first["operation"], "(nothing recorded on the host)") << session["bottlenecks"];
  EXPECT_GE(first["self_time_ms"], 400.0);
}

// Two children at once build and run the same program.
TEST_F(RunLength, SharesOfParallelChildrenDoNotExceedIt) {
  const std::string child = "POCL_KERNEL_CACHE=0 " + kOpencl + " in-order & ";
  record(child + child + "wait");
  const std::string text = fathom({"report", "run.pftrace"}).out +
                           fathom({"suggest", "run.pftrace", "--all", "--top", "0"}).out;
  EXPECT_NE(text.find(" %"), std::string::npos) << text;
  const std::regex percentage("([0-9][0-9,]*(\\.[0-9]+)?) %");
  for (std::sregex_iterator at(text.begin(), text.end(), percentage), end; at != end; ++at) {
    EXPECT_LE(std::stod((*at)[1]), 100.0) << text;
    EXPECT_EQ((*at)[1].str().find(','), std::string::npos) << text;
  }
  const json session = json_of({"report", "run.pftrace", "--json"})["session"];
  const double run_ms = session["total_time_ms"];
  double parts = 0;
  for (const char* part : {"gpu_time_ms", "transfer_time_ms", "overhead_ms", "cpu_time_ms"}) {
    parts += session[part].get<double>();
  }
  EXPECT_NEAR(parts, run_ms, 1e-3);
  EXPECT_LE(session["total_build_ms"], run_ms);
}

// An operator, and something that the user named, far below 0.01 % of the time.
std::string trace_with_small_operations() {
  json events = json::array();
  const auto add = [&](const char* name, const char* category, double at, double us) {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", at},
                      {"dur", us}});
  };
  add("large", "cpu_op", 0, 1e6);
  add("tiny", "cpu_op", 1e6 + 10, 1);
  add("mine", "user_annotation", 1e6 + 20, 1);
  return events.dump();
}

TEST_F(RunLength, ComparingSaysWhatIsLeftOutAndCanShowIt) {
  const std::string file = scratch_.write("trace.json", trace_with_small_operations());
  const auto has = [&](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const std::string text = fathom({"compare", file, "--with", file}).out;
  EXPECT_TRUE(has(text, "1 operation below 0.01 % of the time is left out; --all shows it"))
      << text;
  EXPECT_TRUE(has(text, "mine")) << "the user named it";
  EXPECT_FALSE(has(text, "tiny")) << text;
  const std::string all = fathom({"compare", file, "--with", file, "--all"}).out;
  EXPECT_TRUE(has(all, "tiny")) << all;
  EXPECT_FALSE(has(all, "left out")) << all;
}

TEST_F(RunLength, ASeriesSaysWhatIsLeftOutToo) {
  const std::string file = scratch_.write("trace.json", trace_with_small_operations());
  std::vector<std::string> words = {"compare", "--history", file, file, file};
  EXPECT_NE(fathom(words).out.find("is left out; --all shows it"), std::string::npos);
  words.emplace_back("--all");
  EXPECT_EQ(fathom(words).out.find("left out"), std::string::npos);
}

}  // namespace fathom::cli::run_length_test
