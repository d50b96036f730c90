#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::routing_test {

using nlohmann::json;

// Runs with a profile of its own: that of the developer is neither read nor written.
class Routing : public testing::Test {
 protected:
  void SetUp() override { setenv("FATHOM_MACHINE_PROFILE", profile().c_str(), 1); }
  void TearDown() override { unsetenv("FATHOM_MACHINE_PROFILE"); }
  std::string profile() const { return scratch_.path("machine.json"); }
  Scratch scratch_;
};

TEST_F(Routing, WithoutAProfileItIsAGuessForTheCpuAndSaysSo) {
  const Outcome outcome = run_program({"route", "matmul", "1024"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("cpu: ")) << outcome.out;
  EXPECT_NE(outcome.out.find("To measure: fathom tune"), std::string::npos);
}

TEST_F(Routing, TuneMeasuresAndRouteGoesByIt) {
  const std::string answer = scratch_.path("tuned.json");
  const Outcome tuned = run_program({"tune", "--no-cuda", "--no-opencl", "--json", answer});
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  const json said = json::parse(content_of(answer));
  EXPECT_EQ(faults_against("tune", said), std::vector<std::string>());
  EXPECT_EQ(said["operations"].size(), 8u);
  EXPECT_EQ(said["operations"][0]["small"], "cpu");
  EXPECT_TRUE(said["operations"][0]["from_size"].is_null());
  const json written = json::parse(content_of(profile()));
  EXPECT_EQ(written["fathom_machine"], 1);
  EXPECT_EQ(written["curves"].size(), 8u);
  EXPECT_NE(tuned.out.find("fathom route matmul 1024"), std::string::npos);
  const Outcome routed = run_program({"route", "xor", "5", "--json"});
  const json route = json::parse(routed.out);
  EXPECT_EQ(faults_against("route", route), std::vector<std::string>());
  EXPECT_EQ(route["device"], "cpu");
  EXPECT_EQ(route["is_measured"], true);
  EXPECT_GT(route["expected_ns"], 0);
  // Again: there is nothing left to measure.
  EXPECT_EQ(run_program({"tune", "--no-cuda", "--no-opencl"}).status, 0);
  EXPECT_EQ(json::parse(content_of(profile())), written);
}

TEST_F(Routing, ADamagedProfileIsOneLineAndTheDefaults) {
  scratch_.write("machine.json", "{\"fathom_machine\":1,\"devices\":");
  const Outcome outcome = run_program({"route", "matmul", "64"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "fathom: " + profile() +
                             ": damaged machine profile: not JSON. To measure this machine: fathom "
                             "tune. Defaults are used\n");
  EXPECT_TRUE(outcome.out.starts_with("cpu: ")) << outcome.out;
}

TEST_F(Routing, WrongWordsAreOneLine) {
  Outcome outcome = run_program({"route", "sort", "5"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "fathom: 'sort': unknown operation. There are xor, matmul, add, multiply, relu, saxpy, "
            "reduce, graph_search\n");
  outcome = run_program({"route", "matmul", "5", "--where", "tpu"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "fathom: 'tpu': unknown device. There are: cpu\n");
  EXPECT_EQ(run_program({"route", "matmul", "-3"}).status, 2);
  EXPECT_EQ(run_program({"route", "matmul", "many"}).status, 2);
  EXPECT_EQ(run_program({"tune", "--from", "/nonexistent.pftrace"}).status, 2);
}

TEST_F(Routing, AFolderIsNoProfile) {
  const std::string folder = scratch_.path("");
  const Outcome tuned = run_program({"tune", "-o", folder});
  EXPECT_EQ(tuned.status, 2);
  EXPECT_EQ(tuned.err, "fathom: " + folder + ": is a directory. Name a file in it\n");
  setenv("FATHOM_MACHINE_PROFILE", folder.c_str(), 1);
  const Outcome routed = run_program({"route", "add", "5"});
  EXPECT_EQ(routed.status, 0);
  EXPECT_EQ(routed.err, "fathom: " + folder + ": is a directory, not a file. Defaults are used\n");
}

TEST_F(Routing, WhatARunMeasuredIsLearnedWhereTheProfileKnowsTheDevice) {
  const std::string run = scratch_.path("run.pftrace");
  const Outcome recorded = run_program({"profile", "--no-opencl", "-o", run, "--",
                                        FATHOM_BINARY_DIR "/bin/example_lattice", "simulated"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  Outcome learned = run_program({"tune", "--from", run});
  EXPECT_EQ(learned.status, 2);
  EXPECT_EQ(learned.err, "fathom: " + profile() +
                             ": no profile of this machine to add to. First run: fathom "
                             "tune\n");
  ASSERT_EQ(run_program({"tune", "--no-cuda", "--no-opencl"}).status, 0);
  const std::string measured = content_of(profile());
  learned = run_program({"tune", "--from", run});
  EXPECT_EQ(learned.status, 0) << learned.err;
  EXPECT_NE(content_of(profile()), measured);
}

TEST_F(Routing, TheEnvironmentIsObeyed) {
  setenv("FATHOM_ROUTE", "matmul=gpu", 1);
  const Outcome outcome = run_program({"route", "matmul", "5"});
  unsetenv("FATHOM_ROUTE");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("FATHOM_ROUTE: 'matmul=gpu': no such device"), std::string::npos);
}

}  // namespace fathom::cli::routing_test
