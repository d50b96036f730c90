// The same Go programs measured on different days: whatever is called a change there is a false
// alarm, with all the troubles of a real machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "compare/verdict.h"
#include "trace/corpus.h"

namespace fathom::compare::real_days_test {

using Day = std::map<std::string, std::vector<std::int64_t>>;  // benchmark → picoseconds

Day read_day(const std::string& path) {
  Day day;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string unit;
    double iterations = 0;
    double ns = 0;
    if (words >> name >> iterations >> ns >> unit && name.starts_with("Benchmark") &&
        unit == "ns/op") {
      day[name].push_back(std::llround(ns * 1000));
    }
  }
  return day;
}

class RealDays : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& file : trace::corpus_files("stats/go_baseline_days")) {
      days_.push_back(read_day(file));
    }
    if (days_.empty()) GTEST_SKIP() << "no corpus";
  }

  // `runs` days per side, picked at random; times of `slowed` on the current side are a tenth
  // longer.
  std::map<std::string, Verdict> compare(std::size_t runs, const std::string& slowed) {
    std::shuffle(days_.begin(), days_.end(), random_);
    std::map<std::string, OperationRuns> operations;
    for (std::size_t i = 0; i < 2 * runs; ++i) {
      for (const auto& [name, times] : days_[i]) {
        std::vector<std::int64_t> felt = times;
        if (i >= runs && name == slowed) {
          for (std::int64_t& time : felt) time += time / 10;
        }
        (i < runs ? operations[name].base : operations[name].current).push_back(sample_of(felt));
      }
    }
    std::vector<OperationRuns> runs_of;
    for (const auto& [name, operation] : operations) runs_of.push_back(operation);
    const std::vector<Verdict> all = verdicts(runs_of, {});
    std::map<std::string, Verdict> named;
    auto next = all.begin();
    for (const auto& [name, operation] : operations) named[name] = *next++;
    return named;
  }

  int false_alarms(std::size_t runs) {
    int alarms = 0;
    for (int draw = 0; draw < 60; ++draw) {
      const auto all = compare(runs, "");
      alarms += std::ranges::any_of(all,
                                    [](const auto& named) {
                                      return named.second.type == ChangeType::regression ||
                                             named.second.type == ChangeType::improvement;
                                    })
                    ? 1
                    : 0;
    }
    return alarms;
  }

  std::vector<Day> days_;
  std::mt19937_64 random_{60};
};

TEST_F(RealDays, RaiseNoAlarmWithThreeRunsPerSide) {
  EXPECT_EQ(false_alarms(3), 0);
}

TEST_F(RealDays, RaiseNoAlarmWithFiveRunsPerSide) {
  EXPECT_EQ(false_alarms(5), 0);
}

TEST_F(RealDays, ShowASlowdownOfATenth) {
  std::vector<std::string> names;
  for (const auto& [name, times] : days_.front()) names.push_back(name);
  int found = 0;
  for (const std::string& name : names) {
    found += compare(5, name)[name].type == ChangeType::regression ? 1 : 0;
  }
  EXPECT_GE(found, static_cast<int>(std::ceil(0.95 * static_cast<double>(names.size()))));
  RecordProperty("found", found);
  RecordProperty("of", static_cast<int>(names.size()));
}

}  // namespace fathom::compare::real_days_test
