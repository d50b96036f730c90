#include <fathom/fathom.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace fathom::export_test {

nlohmann::json exported() {
  const std::string path = ::testing::TempDir() + std::to_string(getpid()) + "fathom_profile.json";
  profiler().export_json(path);
  std::ifstream file(path);
  nlohmann::json parsed = nlohmann::json::parse(file);
  std::remove(path.c_str());
  return parsed;
}

class ProfileJson : public ::testing::Test {
 protected:
  void SetUp() override { profiler().configure({}); }
};

TEST_F(ProfileJson, HoldsEntriesAndSummary) {
  for (int i = 0; i < 5; ++i) {
    const Scope outer = profiler().profile("outer", {.size = 10});
    FATHOM_SCOPE("inner");
  }
  const nlohmann::json json = exported();
  EXPECT_TRUE(json.at("fathom").is_string());
  ASSERT_EQ(json.at("entries").size(), 10U);
  EXPECT_EQ(json["entries"][1].at("operation"), "inner");
  EXPECT_EQ(json["entries"][1].at("parent"), 0);
  EXPECT_EQ(json["entries"][0].at("attributes").at("size"), 10);
  EXPECT_TRUE(json["entries"][0].at("gpu_time_ms").is_null());
  EXPECT_EQ(json.at("summary").at("outer").at("call_count"), 5);
  const double total = json["summary"]["outer"].at("total_time_ms");
  EXPECT_NEAR(total, *profiler().summary().at("outer").total_time_ms(), 1e-3 * total);
}

TEST_F(ProfileJson, SurvivesAnyName) {
  const std::string name = "quote \" backslash \\ newline \n tab \t bell \a \xFF é 漢";
  { const Scope scope = profiler().profile(name); }
  const nlohmann::json json = exported();
  EXPECT_EQ(json["summary"].size(), 1U);
  EXPECT_NE(json["entries"][0]["operation"].get<std::string>().find("漢"), std::string::npos);
}

TEST_F(ProfileJson, OfNothingIsStillAProfile) {
  const nlohmann::json json = exported();
  EXPECT_TRUE(json.at("entries").empty());
  EXPECT_TRUE(json.at("summary").empty());
}

TEST_F(ProfileJson, SaysWhereItCouldNotBeWritten) {
  try {
    profiler().export_json("/nowhere/profile.json");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/profile.json"), std::string::npos);
  }
}

// Every field of the schema is there, and no other.
TEST_F(ProfileJson, HasTheFieldsOfItsSchema) {
  { FATHOM_SCOPE("any"); }
  std::ifstream file(FATHOM_SOURCE_DIR "/docs/profile.schema.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  const nlohmann::json json = exported();
  const auto names = [](const nlohmann::json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
  };
  EXPECT_EQ(names(json["entries"][0]), names(schema["$defs"]["entry"]["properties"]));
  EXPECT_EQ(names(json["summary"]["any"]), names(schema["$defs"]["summary"]["properties"]));
}

}  // namespace fathom::export_test
