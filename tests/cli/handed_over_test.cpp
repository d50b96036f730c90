// Scopes that another thread than their own ends: they last until then in the run, whatever their
// own thread does meanwhile, and however the program ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::handed_over_test {

using nlohmann::json;

constexpr const char* kScopes = FATHOM_BINARY_DIR "/bin/scoped_program";

struct Recorded {
  std::vector<json> events;
  json scopes;

  std::vector<json> named(const std::string& name) const {
    std::vector<json> found;
    for (const json& event : events) {
      if (event.value("name", "") == name && event["ph"] == "X") found.push_back(event);
    }
    return found;
  }
};

double begin_of(const json& span) {
  return span["ts"];
}
double end_of(const json& span) {
  return span["ts"].get<double>() + span["dur"].get<double>();
}

Recorded record(const std::string& how, const std::string& number) {
  const Scratch scratch;
  const std::string run = scratch.path("run.pftrace");
  run_program({"profile", "--no-opencl", "-o", run, "--", kScopes, how, number});
  Recorded recorded;
  recorded.events = json::parse(run_program({"convert", run, "-", "--format", "chrome"}).out)
                        .at("traceEvents")
                        .get<std::vector<json>>();
  recorded.scopes = json::parse(run_program({"report", "--json", run}).out)["session"]["scopes"];
  return recorded;
}

// It is over before "then" begins, and counted.
void expect_true_duration(const Recorded& run) {
  const std::vector<json> handed = run.named("handed over");
  const std::vector<json> then = run.named("then");
  ASSERT_EQ(handed.size(), 1U);
  ASSERT_EQ(then.size(), 1U);
  EXPECT_EQ(handed[0]["cat"], "scope");
  EXPECT_LE(end_of(handed[0]), begin_of(then[0]));
  const auto counted = std::find_if(run.scopes.begin(), run.scopes.end(), [](const json& scope) {
    return scope["name"] == "handed over";
  });
  ASSERT_NE(counted, run.scopes.end());
  EXPECT_EQ((*counted)["calls"], 1);
}

TEST(HandedOver, AThreadThatGoesOnDoesNotMakeThemLonger) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  const Recorded run = record("handed", "3");
  expect_true_duration(run);
  const std::vector<json> work = run.named("work");
  ASSERT_EQ(work.size(), 3U);
  EXPECT_GE(begin_of(work[0]), end_of(run.named("handed over")[0]));
}

TEST(HandedOver, AThreadThatIsInsideAnotherGoesOnInIt) {
  const Recorded run = record("around", "0");
  expect_true_duration(run);
  const std::vector<json> inside = run.named("inside");
  ASSERT_EQ(inside.size(), 2U) << "until the scope around it ended, and after that";
  EXPECT_GE(end_of(inside[1]), begin_of(run.named("then")[0]));
}

TEST(HandedOver, AThreadThatWaitsUntilTheEndDoesNotMakeThemLonger) {
  expect_true_duration(record("waiting", "0"));
}

TEST(HandedOver, AThreadThatWaitsUntilASuddenEndDoesNotEither) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  expect_true_duration(record("waiting", "1"));
}

// Its thread is not the one that ends the program, and never begins or ends a scope again.
TEST(HandedOver, AnotherThreadThatWaitsDoesNotEither) {
  expect_true_duration(record("idle", "0"));
}

}  // namespace fathom::cli::handed_over_test
