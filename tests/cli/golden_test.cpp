// The checks of tests/golden, whose README says what they look like: small traces of our own, with
// figures worked out by hand or by brute force.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::golden_test {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> check_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(FATHOM_SOURCE_DIR "/tests/golden")) {
    if (entry.path().string().ends_with(".check.json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void expect_holds(const json& expected, const json& found, const std::string& where);

void expect_array(const json& expected, const json& found, const std::string& where) {
  const bool is_open = !expected.empty() && expected.back() == "...";
  const std::size_t named = expected.size() - (is_open ? 1 : 0);
  ASSERT_TRUE(found.is_array()) << where;
  if (is_open) {
    ASSERT_GE(found.size(), named) << where;
  } else {
    ASSERT_EQ(found.size(), named) << where;
  }
  for (std::size_t i = 0; i < named; ++i) {
    expect_holds(expected[i], found[i], where + "/" + std::to_string(i));
  }
}

// What is named in `expected` must be in `found`; what is not named may be anything.
void expect_holds(const json& expected, const json& found, const std::string& where) {
  if (expected.is_array()) return expect_array(expected, found, where);
  if (expected.is_object() && expected.contains("near")) {
    ASSERT_TRUE(found.is_number()) << where << ": " << found;
    EXPECT_NEAR(found.get<double>(), expected["near"].get<double>(),
                expected["within"].get<double>())
        << where;
  } else if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      ASSERT_TRUE(found.is_object() && found.contains(key)) << where << "/" << key;
      expect_holds(value, found[key], where + "/" + key);
    }
  } else if (expected.is_number_float() && found.is_number()) {
    const double value = expected.get<double>();
    EXPECT_NEAR(found.get<double>(), value, 1e-9 * std::max(1.0, std::abs(value))) << where;
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

TEST(Golden, EveryCheckHolds) {
  const std::vector<fs::path> files = check_files();
  ASSERT_GE(files.size(), 17U);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const json check = json::parse(content_of(file.string()));
    auto arguments = check["arguments"].get<std::vector<std::string>>();
    arguments.emplace_back("--json");
    const Outcome outcome = run_program(arguments, {.folder = file.parent_path().string()});
    EXPECT_EQ(outcome.status, check.value("status", 0)) << outcome.err;
    const json found = json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(found.is_discarded()) << outcome.err;
    expect_holds(check["expect"], found, "");
  }
}

}  // namespace fathom::cli::golden_test
