#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run_program.h"
#include "cli/schema.h"
#include "fathom/operation.h"
#include "runtime/machine_profile.h"

namespace fathom::cli::routing_test {

using nlohmann::json;

// Runs with a profile of its own: that of the developer is neither read nor written.
class Routing : public testing::Test {
 protected:
  void SetUp() override { setenv("FATHOM_MACHINE_PROFILE", profile().c_str(), 1); }
  void TearDown() override { unsetenv("FATHOM_MACHINE_PROFILE"); }
  std::string profile() const { return scratch_.path("machine.json"); }
  // Of this machine, with devices that take so many nanoseconds per size, and so many to launch.
  void write_profile(const std::vector<std::pair<std::string, double>>& devices,
                     double launch_ns = 0) {
    json written = {{"fathom_machine", 1}, {"machine", runtime::machine_name()}};
    for (const auto& [name, ns] : devices) {
      const bool is_host = name == "cpu";
      const double launch = is_host ? 0 : launch_ns;
      written["devices"].push_back({{"name", name},
                                    {"shares_host_memory", is_host},
                                    {"launch_ns", launch},
                                    {"link_latency_ns", 1000},
                                    {"link_bytes_per_second", 8e9}});
      for (std::size_t i = 0; i < kOperations; ++i) {
        json calls = json::array();
        for (double size = 4; size < 5e6; size *= 4) calls.push_back({size, launch + ns * size});
        written["curves"].push_back({{"operation", name_of(static_cast<Operation>(i))},
                                     {"device", name},
                                     {"calls", calls}});
      }
    }
    scratch_.write("machine.json", written.dump());
  }
  Scratch scratch_;
};

// Of a profile: what a call of about this size takes; 0 where there is none.
double ns_of(const json& profile, const std::string& operation, const std::string& device,
             double size) {
  for (const json& curve : profile["curves"]) {
    if (curve["operation"] != operation || curve["device"] != device) continue;
    for (const json& call : curve["calls"]) {
      const auto of = call[0].get<double>();
      if (of > size / 1.1 && of < size * 1.1) return call[1].get<double>();
    }
  }
  return 0;
}

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
  // The name of the file reaches no terminal as it is.
  const std::string evil = scratch_.write("\x1b[2J\nFORGED", content_of(profile()));
  const Outcome named = run_program({"tune", "--no-cuda", "--no-opencl", "-o", evil});
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_EQ(named.out.find_first_of("\x1b"), std::string::npos) << named.out;
  EXPECT_EQ(named.out.find("\nFORGED"), std::string::npos) << named.out;
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

TEST_F(Routing, AProfileWithoutAnEndIsOneLine) {
  setenv("FATHOM_MACHINE_PROFILE", "/dev/zero", 1);
  const Outcome outcome = run_program({"route", "matmul", "64"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "fathom: /dev/zero: is too large for a profile. Defaults are used\n");
  EXPECT_LT(outcome.most_memory, 256 << 20);
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
  // Nobody's figures: what the run measured replaces those of its sizes, and leaves the others.
  write_profile({{"cpu", 1e-3}, {"simulated", 1e-3}});
  learned = run_program({"tune", "--from", run});
  EXPECT_EQ(learned.status, 0) << learned.err;
  const json written = json::parse(content_of(profile()));
  // The batch of 100 products of 64 x 64 is as much as one of 297, and the first call of all.
  EXPECT_GT(ns_of(written, "matmul", "simulated", 297), 13e3) << "8 µs, and 52 million additions";
  EXPECT_EQ(ns_of(written, "matmul", "simulated", 4), 0.004) << "no call of this size was recorded";
  EXPECT_EQ(ns_of(written, "reduce", "cpu", 4), 0.004);
}

// The router counts them apart.
TEST_F(Routing, CopiesOfARecordedCallAreNotTakenForItsComputing) {
  const std::string run = scratch_.path("run.pftrace");
  ASSERT_EQ(run_program({"profile", "--no-opencl", "-o", run, "--",
                         FATHOM_BINARY_DIR "/bin/example_lattice", "simulated"})
                .status,
            0);
  write_profile({{"cpu", 1e-3}, {"simulated", 1e-3}});
  ASSERT_EQ(run_program({"tune", "--from", run}).status, 0);
  const double learned = ns_of(json::parse(content_of(profile())), "matmul", "simulated", 297);
  const std::string entries = scratch_.path("run.profile.json");
  ASSERT_EQ(run_program({"convert", run, entries}).status, 0);
  std::vector<json> calls;
  const json converted = json::parse(content_of(entries));
  for (const json& entry : converted["entries"]) {
    const bool is_it = entry["operation"] == "matmul" && entry.contains("attributes") &&
                       entry["attributes"].value("runs_on", "") == "simulated" &&
                       entry["attributes"].value("size", 0) == 297;
    if (is_it) calls.push_back(entry);
  }
  ASSERT_EQ(calls.size(), 1u);
  const auto duration_ms = calls[0]["duration_ms"].get<double>();
  const auto transfer_ms = calls[0]["transfer_time_ms"].get<double>();
  EXPECT_GT(transfer_ms, 0.3) << "4.9 MB at 12 GB/s";
  EXPECT_NEAR(learned / 1e6, duration_ms - transfer_ms, 0.01 * duration_ms);
}

TEST_F(Routing, WhatAPoolReservesIsInTheRun) {
  const std::string run = scratch_.path("run.pftrace");
  ASSERT_EQ(run_program({"profile", "--no-opencl", "-o", run, "--",
                         FATHOM_BINARY_DIR "/bin/example_lattice", "simulated"})
                .status,
            0);
  const json memory = json::parse(run_program({"memory", run, "--json"}).out);
  double reserved = 0;
  for (const json& device : memory["devices"]) {  // the host is one, if the run lasts long enough
    for (const json& level : device["timeline"]) {
      if (!level["reserved_mb"].is_null()) {
        reserved = std::max(reserved, level["reserved_mb"].get<double>());
      }
    }
  }
  EXPECT_GE(reserved, 20) << "a segment for operands of 4 MiB";
}

// As measured on a machine whose only OpenCL device is PoCL, which is the same CPU.
TEST_F(Routing, SaysCpuForEverythingWhereTheGpuIsTheCpuAndWhy) {
  write_profile({{"cpu", 1}, {"opencl:0", 3}}, 50e3);
  for (const char* operation :
       {"xor", "matmul", "add", "multiply", "relu", "saxpy", "reduce", "graph_search"}) {
    for (const char* size : {"1", "100", "10000", "1000000"}) {
      const Outcome outcome = run_program({"route", operation, size});
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_TRUE(outcome.out.starts_with("cpu: ")) << outcome.out;
      EXPECT_NE(outcome.out.find("opencl:0 would take"), std::string::npos) << outcome.out;
      EXPECT_NE(outcome.out.find("of it for transfers"), std::string::npos) << outcome.out;
    }
  }
}

// 30 additions of 200 µs that copy to the GPU, compute for 3 µs and copy back.
std::string round_trips() {
  json events = json::array();
  const auto add = [&](const char* category, const char* name, int thread, double start,
                       double duration, const json& args) {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", 9},
                      {"tid", thread},
                      {"ts", start},
                      {"dur", duration},
                      {"args", args}});
  };
  for (int i = 0; i < 30; ++i) {
    const double at = 210 * i;
    const auto of = [&](int call) { return json{{"correlation", 3 * i + call}}; };
    const auto on_gpu = [&](int call) {
      return json{{"correlation", 3 * i + call}, {"stream", 7}, {"device", 0}};
    };
    add("cpu_op", "aten::add", 9, at, 200,
        {{"Input Dims", {{1000}, {1000}}}, {"Input type", {"float", "float"}}});
    add("cuda_runtime", "cudaMemcpy", 9, at + 2, 70, of(1));
    add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, at + 6, 60, on_gpu(1));
    add("cuda_runtime", "cudaLaunchKernel", 9, at + 75, 5, of(2));
    add("kernel", "small", 7, at + 84, 3, on_gpu(2));
    add("cuda_runtime", "cudaMemcpy", 9, at + 90, 70, of(3));
    add("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, at + 94, 60, on_gpu(3));
  }
  return json{{"traceEvents", events}}.dump();
}

TEST_F(Routing, SuggestGoesByWhatThisMachineTakes) {
  const std::string trace = scratch_.write("trace.json", round_trips());
  const auto said = [&] {  // in one line, wherever the terminal would break it
    std::istringstream words(run_program({"suggest", trace}).out);
    std::string line;
    for (std::string word; words >> word;) line += word + " ";
    return line;
  };
  EXPECT_NE(said().find("if the CPU needs ten times as long as the kernels"), std::string::npos)
      << said();
  write_profile({{"cpu", 80}});  // 80 µs of 1,000 elements
  EXPECT_NE(said().find("2.4 ms that fathom tune measured on this machine"), std::string::npos)
      << said();
  write_profile({{"cpu", 250}});
  EXPECT_EQ(said().find("Run aten::add on the CPU"), std::string::npos) << said();
}

TEST_F(Routing, TheEnvironmentIsObeyed) {
  setenv("FATHOM_ROUTE", "matmul=gpu", 1);
  const Outcome outcome = run_program({"route", "matmul", "5"});
  unsetenv("FATHOM_ROUTE");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("FATHOM_ROUTE: 'matmul=gpu': no such device"), std::string::npos);
}

}  // namespace fathom::cli::routing_test
