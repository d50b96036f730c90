#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/run_program.h"

namespace fathom::cli {
namespace {

// A run of two operations, 30 calls each, with a little noise; `slow` stretches the second.
std::string run_text(std::uint64_t seed, double slow) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.99, 1.01);
  nlohmann::json events;
  double at = 0;
  for (int i = 0; i < 30; ++i) {
    for (const auto& [name, us] : {std::pair("steady", 100.0), std::pair("moved", 200 * slow)}) {
      const double duration = us * noise(random);
      events.push_back({{"ph", "X"},
                        {"cat", "cpu_op"},
                        {"name", name},
                        {"pid", 1},
                        {"tid", 1},
                        {"ts", at},
                        {"dur", duration}});
      at += duration + 1;
    }
  }
  return events.dump();
}

class Compare : public ::testing::Test {
 protected:
  Outcome compare(std::size_t runs, double slow, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"compare"};
    for (std::size_t i = 0; i < runs; ++i) {
      words.push_back(scratch_.write("base" + std::to_string(i), run_text(i, 1)));
    }
    words.emplace_back("--with");
    for (std::size_t i = 0; i < runs; ++i) {
      words.push_back(scratch_.write("now" + std::to_string(i), run_text(100 + i, slow)));
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  Scratch scratch_;
};

TEST_F(Compare, GateIsZeroWhereNothingGotSlower) {
  EXPECT_EQ(compare(5, 1, {"--gate"}).status, 0);
  EXPECT_EQ(compare(5, 0.8, {"--gate"}).status, 0);
}

TEST_F(Compare, GateIsOneForARegression) {
  const Outcome outcome = compare(5, 1.2, {"--gate"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("SLOWER"), std::string::npos) << outcome.out;
}

TEST_F(Compare, GateIsTwoForBadInput) {
  EXPECT_EQ(run_program({"compare", "no such file", "--with", "nor this", "--gate"}).status, 2);
  EXPECT_EQ(run_program({"compare", "one side only"}).status, 2);
  EXPECT_EQ(run_program({"compare", "--repeat", "2", "--", "true"}).status, 2);
}

TEST_F(Compare, GateIsThreeWhereOneRunASideDoesNotTell) {
  EXPECT_EQ(compare(1, 1.2, {"--gate"}).status, 3);
  EXPECT_EQ(compare(1, 1.2, {"--gate", "--single-run-gate"}).status, 1);
}

TEST_F(Compare, JsonNamesWhatChangedAndByHowMuch) {
  const Outcome outcome = compare(5, 1.2, {"--json"});
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["summary"]["REGRESSION"], 1);
  EXPECT_EQ(json["summary"]["NO_CHANGE"], 1);
  const nlohmann::json& first = json["operations"][0];
  EXPECT_EQ(first["operation"], "moved");
  EXPECT_EQ(first["change_type"], "REGRESSION");
  EXPECT_NEAR(first["change_percent"], 20, 1);
  EXPECT_NEAR(first["baseline_time_ms"], 0.2, 0.01);
}

TEST_F(Compare, AnotherProgramIsNotComparable) {
  const std::string other = scratch_.write(
      "other", R"([{"ph":"X","cat":"cpu_op","name":"else","pid":1,"tid":1,"ts":0,"dur":500}])");
  const Outcome outcome =
      run_program({"compare", scratch_.write("base", run_text(1, 1)), "--with", other, "--gate"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.out.find("not runs of one program"), std::string::npos) << outcome.out;
}

TEST_F(Compare, ARunWithItselfIsTheSame) {
  const std::string run = scratch_.write("base", run_text(1, 1));
  const Outcome outcome = run_program({"compare", run, "--with", run, "--gate"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
}

TEST_F(Compare, RecordsTwoCommandsInTurn) {
  Scratch folder;
  const Outcome outcome = run_program({"compare", "--repeat", "2", "--", "true", ":::", "true"},
                                      {.folder = folder.path("")});
  EXPECT_NE(outcome.out.find("2 runs and 2 runs"), std::string::npos) << outcome.err << outcome.out;
}

}  // namespace
}  // namespace fathom::cli
