#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::devices_test {

using nlohmann::json;

// Without the drivers of the machine that runs the tests, as far as they can be kept out.
class Devices : public testing::Test {
 protected:
  Devices() {
    for (const char* name : kVariables) ::setenv(name, "/nonexistent/driver", 1);
  }
  ~Devices() override {
    for (const char* name : kVariables) ::unsetenv(name);
  }
  void fake_nvml(const std::string& scenario) {
    ::setenv("FATHOM_NVML", FATHOM_BINARY_DIR "/lib/libfake_nvml.so", 1);
    ::setenv("FATHOM_FAKE_NVML", scratch_.write("scenario", scenario).c_str(), 1);
  }
  static json written(const std::vector<std::string>& words) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    json document = json::parse(outcome.out);
    EXPECT_EQ(faults_against("devices", document), std::vector<std::string>{});
    return document;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  static constexpr std::array kVariables = {"FATHOM_NVML", "FATHOM_NVIDIA_SMI", "FATHOM_OPENCL"};
  Scratch scratch_;
};

TEST_F(Devices, WithoutAnySaysCalmlyWhatItLookedFor) {
  const json document = written({"devices", "--json"});
  if (!document["devices"].empty()) GTEST_SKIP() << "a GPU that is not NVIDIA's is here";
  const Outcome outcome = run_program({"devices"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("  No GPU found. Looked for NVIDIA's")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "libOpenCL.so.1"));
  EXPECT_TRUE(document["backends"].empty());
}

TEST_F(Devices, DemoIsNamedAsSuch) {
  const Outcome outcome = run_program({"devices", "--demo"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(has(outcome.out, "these GPUs do not exist")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "1  Demo GPU 1 (serving)")) << outcome.out;
  const json document = written({"devices", "--demo", "--json"});
  EXPECT_EQ(document["demo"], true);
  EXPECT_EQ(document["devices"].size(), 2u);
  EXPECT_EQ(document["devices"][0]["backend"], "demo");
  EXPECT_FALSE(document["devices"][0]["processes"][0].contains("command"));
}

TEST_F(Devices, ShowsWhatTheDriverTells) {
  fake_nvml("devices 2\nunsupported fan\nprocess 1 1024");
  const Outcome outcome = run_program({"devices"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"0  Fake GPU", "300 B of 1000 B", "70 %", "61 °C", "252 of 350 W",
                           "1,410 MHz", "hardware thermal", "0000:01:00.0", "550.54.15", "nvml"}) {
    EXPECT_TRUE(has(outcome.out, part)) << part << "\n" << outcome.out;
  }
  const json document = written({"devices", "--json"});
  const json& gpu = document["devices"][0];
  EXPECT_EQ(gpu["uuid"], "GPU-fake-0");
  EXPECT_EQ(gpu["memory_used_bytes"], 300);
  EXPECT_EQ(gpu["processes"][0]["memory_bytes"], 1024);
  EXPECT_FALSE(gpu.contains("fan_percent"));
  EXPECT_EQ(document["backends"][0]["name"], "nvml");
}

TEST_F(Devices, ColumnsOfAnyWidthStayAligned) {
  fake_nvml("devices 8");
  for (const char* columns : {"60", "100", "300"}) {
    const std::string out = run_program({"devices"}, {.columns = columns}).out;
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 19) << out;
  }
}

TEST_F(Devices, ADriverThatFailsIsNamedAndIsNoFailureOfOurs) {
  fake_nvml("init 9");
  const Outcome outcome = run_program({"devices"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(has(outcome.out, "\n  NVML: Driver Not Loaded\n")) << outcome.out;
  EXPECT_EQ(written({"devices", "--json"})["backends"][0]["is_up"], false);
}

TEST_F(Devices, JsonGoesToAFileThatIsNamed) {
  const std::string file = scratch_.path("devices.json");
  const Outcome outcome = run_program({"devices", "--demo", "--json", file});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "Demo GPU 0"));
  EXPECT_EQ(json::parse(content_of(file))["devices"].size(), 2u);
}

TEST_F(Devices, WrongOptionsAreBadUsage) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"devices", "--watch"},
                                                {"devices", "gpu0"},
                                                {"devices", "--demo", "--benchmark"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words.back();
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Devices, WithoutOpenclThereIsNothingToMeasure) {
  const Outcome outcome = run_program({"devices", "--benchmark"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(has(outcome.out, "Nothing to measure: OpenCL lists no device")) << outcome.out;
  EXPECT_EQ(written({"devices", "--benchmark", "--json"})["benchmarks"], json::array());
}

// On the processor, through PoCL.
TEST_F(Devices, BenchmarkMeasuresAndChecksResults) {
  ::unsetenv("FATHOM_OPENCL");
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // PoCL's threads are still there at the end
  const json document = written({"devices", "--benchmark", "--json"});
  if (document["benchmarks"].empty()) GTEST_SKIP() << "no OpenCL device";
  const json& benchmark = document["benchmarks"][0];
  EXPECT_EQ(benchmark["results_are_right"], true);
  for (const char* key :
       {"host_to_device_bytes_per_second", "device_to_host_bytes_per_second", "launch_seconds",
        "memory_bytes_per_second", "vector_flops", "matmul_flops"}) {
    const json& measured = benchmark[key];
    EXPECT_GT(measured["lowest"], 0) << key;
    EXPECT_GE(measured["median"], measured["lowest"]) << key;
    EXPECT_GE(measured["highest"], measured["median"]) << key;
  }
  EXPECT_FALSE(benchmark["findings"].empty());
}

}  // namespace fathom::cli::devices_test
