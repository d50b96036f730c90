// `fathom compare --repeat`: two programs, recorded in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_program.h"

namespace fathom::cli::record_in_turn_test {

class RecordInTurn : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), "compare");
    return run_program(words, {.folder = scratch_.path("")});
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path(""))) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  Scratch scratch_;
};

TEST_F(RecordInTurn, TakesNamesThatAreFreeOnBothSidesAndSaysThem) {
  scratch_.write("before-1.pftrace", "mine");
  scratch_.write("now-2.pftrace", "mine");
  const Outcome outcome = run({"--repeat", "2", "--", "true", ":::", "true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(files(),
            (std::set<std::string>{"before-1.pftrace", "before-3.pftrace", "before-4.pftrace",
                                   "now-2.pftrace", "now-3.pftrace", "now-4.pftrace"}));
  EXPECT_EQ(content_of(scratch_.path("before-1.pftrace")), "mine");
  EXPECT_EQ(content_of(scratch_.path("now-2.pftrace")), "mine");
  EXPECT_NE(outcome.err.find("before-3.pftrace … before-4.pftrace and now-3.pftrace"),
            std::string::npos)
      << outcome.err;
}

TEST_F(RecordInTurn, AProgramThatCannotBeStartedIsBadUsageAndLeavesNothing) {
  const Outcome outcome = run({"--repeat", "2", "--gate", "--", "/nonexist", ":::", "true"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("/nonexist"), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(RecordInTurn, AProgramThatFailsIsBadInputInOneLine) {
  const Outcome outcome =
      run({"--repeat", "2", "--gate", "--", "true", ":::", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("status 7"), std::string::npos) << outcome.err;
  EXPECT_EQ(run({"--repeat", "1", "--", "sh", "-c", "kill -9 $$", ":::", "true"}).status, 2);
}

TEST_F(RecordInTurn, ProgramsKeepTheirOptionsWhereJsonIsTheLastOfOurs) {
  const std::vector<std::string> programs = {"--", "sh", "-c", "true", ":::", "sh", "-c", "true"};
  std::vector<std::string> words = {"--repeat", "1", "--json"};
  words.insert(words.end(), programs.begin(), programs.end());
  EXPECT_TRUE(nlohmann::json::accept(run(words).out));
  words.insert(words.begin() + 3, "changes.json");
  EXPECT_EQ(run(words).status, 0);
  EXPECT_TRUE(nlohmann::json::accept(content_of(scratch_.path("changes.json"))));
}

}  // namespace fathom::cli::record_in_turn_test
