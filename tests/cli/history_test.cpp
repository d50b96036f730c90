#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::history_test {

// Thirty calls each of two operations; `moved` takes `us`.
std::string run_text(std::uint64_t seed, double us) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.98, 1.02);
  nlohmann::json events;
  double at = 0;
  for (int i = 0; i < 30; ++i) {
    for (const auto& [name, base] : {std::pair("steady", 100.0), std::pair("moved", us)}) {
      const double dur = base * noise(random);
      const nlohmann::json event = {{"ph", "X"}, {"cat", "cpu_op"}, {"name", name}, {"pid", 1},
                                    {"tid", 1},  {"ts", at},        {"dur", dur}};
      events.push_back(event);
      at += dur + 1;
    }
  }
  return events.dump();
}

class History : public ::testing::Test {
 protected:
  // A series of runs: `moved` takes 200 µs, from run `step` on `after`.
  Outcome history(std::size_t runs, std::size_t step, double after,
                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"compare", "--history"};
    for (std::size_t i = 0; i < runs; ++i) {
      words.push_back(scratch_.write("run" + std::to_string(i) + ".json",
                                     run_text(i, i < step ? 200.0 : after)));
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  Scratch scratch_;
};

TEST_F(History, NamesTheRunAtWhichAnOperationMoved) {
  const Outcome outcome = history(24, 15, 230);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1 of 2 operations changed by 5 % or more"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("moved      run15.json"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("steady"), std::string::npos) << outcome.out;
}

TEST_F(History, SaysTheSameAsJson) {
  const Outcome outcome = history(24, 15, 230, {"--json"});
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(faults_against("history", json), std::vector<std::string>{});
  const nlohmann::json& moved = json["operations"][0];
  EXPECT_EQ(moved["operation"], "moved");
  ASSERT_EQ(moved["change_points"].size(), 1U);
  EXPECT_EQ(moved["change_points"][0]["run"], 15);
  EXPECT_EQ(moved["change_points"][0]["file"], json["runs"][15]);
  EXPECT_NEAR(moved["change_points"][0]["change_percent"], 15, 1);
  EXPECT_NEAR(moved["change_points"][0]["before_ms"], 0.2, 0.005);
  EXPECT_TRUE(json["operations"][1]["change_points"].empty());
}

TEST_F(History, SaysThatNothingMoved) {
  const Outcome outcome = history(20, 20, 0);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("No operation moved to another level"), std::string::npos)
      << outcome.out;
  const Outcome small = history(20, 10, 230, {"--threshold", "20"});
  EXPECT_NE(small.out.find("No operation moved to another level by 20 % or more"),
            std::string::npos)
      << small.out;
}

TEST_F(History, SaysThatAFewRunsAreTooFew) {
  const Outcome outcome = history(6, 3, 400);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("6 runs are too few"), std::string::npos) << outcome.out;
}

TEST_F(History, HasGapsWhereARunLacksAnOperation) {
  scratch_.write("other.json",
                 R"([{"ph":"X","cat":"cpu_op","name":"else","pid":1,"tid":1,"ts":0,"dur":500}])");
  const Outcome outcome = history(18, 9, 230, {scratch_.path("other.json"), "--json"});
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["operations"][0]["change_points"][0]["run"], 9);
  EXPECT_TRUE(json["operations"][0]["time_ms"][18].is_null());
}

TEST_F(History, OfRunsWithoutOperationsSaysSo) {
  const std::string empty = scratch_.write("empty.json", R"({"traceEvents": []})");
  const Outcome outcome = run_program({"compare", "--history", empty, empty});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("no operations"), std::string::npos) << outcome.out;
}

TEST_F(History, IsNoGateAndHasNoSides) {
  EXPECT_EQ(history(3, 1, 230, {"--gate"}).status, 2);
  EXPECT_EQ(history(3, 1, 230, {"--with", scratch_.path("run0.json")}).status, 2);
}

}  // namespace fathom::cli::history_test
