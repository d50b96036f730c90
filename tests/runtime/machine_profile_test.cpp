#include "runtime/machine_profile.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace fathom::runtime {
namespace {

MachineProfile example_profile() {
  MachineProfile profile;
  profile.machine = machine_name();
  profile.devices = {{.name = "cpu", .shares_host_memory = true},
                     {.name = "gpu", .launch_ns = 20'000, .memory_bytes = 1 << 30}};
  profile.curves = {{Operation::matmul, "cpu", {{16, 500}, {1024, 4e7}}},
                    {Operation::matmul, "gpu", {{16, 2e4}, {1024, 1e6}}}};
  profile.routes = {{Operation::graph_search, "cpu"}};
  return profile;
}

std::string problem_of(const std::string& text) {
  try {
    parse_machine_profile(text, "machine.json");
  } catch (const base::Error& error) {
    return error.what();
  }
  return "none";
}

TEST(MachineProfile, IsReadAsItWasWritten) {
  const MachineProfile read = parse_machine_profile(to_json(example_profile()), "x");
  ASSERT_EQ(read.devices.size(), 2u);
  EXPECT_EQ(read.devices[1].name, "gpu");
  EXPECT_EQ(read.devices[1].launch_ns, 20'000);
  EXPECT_EQ(read.devices[1].memory_bytes, 1u << 30);
  EXPECT_EQ(read.devices[0].memory_bytes, std::nullopt);
  EXPECT_TRUE(read.devices[0].shares_host_memory);
  const ProfileCurve* const curve = read.curve(Operation::matmul, "gpu");
  ASSERT_NE(curve, nullptr);
  ASSERT_EQ(curve->calls.size(), 2u);
  EXPECT_EQ(curve->calls[1].ns, 1e6);
  EXPECT_EQ(read.routes, example_profile().routes);
  EXPECT_EQ(nlohmann::json::parse(to_json(example_profile()))["fathom_machine"], 1);
}

// Programs that write JSON may sort it, and the version is in the middle then.
TEST(MachineProfile, KeysMayStandInAnyOrder) {
  const std::string sorted = nlohmann::json::parse(to_json(example_profile())).dump();
  EXPECT_LT(sorted.find("curves"), sorted.find("fathom_machine"));
  const MachineProfile read = parse_machine_profile(sorted, "x");
  EXPECT_EQ(read.devices.size(), 2u);
  EXPECT_EQ(read.curves.size(), 2u);
}

TEST(MachineProfile, WhatIsWrongWithItIsOneLine) {
  const std::string again = "To measure this machine: fathom tune";
  EXPECT_EQ(problem_of(""), "machine.json: damaged machine profile: not JSON. " + again);
  EXPECT_EQ(problem_of("{}"), "machine.json: not a machine profile. " + again);
  EXPECT_EQ(problem_of(R"({"fathom_machine":9,"devices":7})"),
            "machine.json: machine profile of version 9, not 1. " + again);
  EXPECT_EQ(problem_of(R"({"fathom_machine":1})"),
            "machine.json: machine profile without devices. " + again);
  EXPECT_EQ(problem_of(R"({"fathom_machine":1,"devices":[{"name":"a","launch_ns":-3}]})"),
            "machine.json: damaged machine profile: invalid number '-3'. " + again);
}

TEST(MachineProfile, CutAnywhereItIsAProblemAndNeverAProfile) {
  const std::string whole = to_json(example_profile());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    EXPECT_NE(problem_of(whole.substr(0, length)), "none") << length;
  }
}

TEST(MachineProfile, OneOfAnotherMachineIsLeftAside) {
  const std::string path = testing::TempDir() + "/fathom_profile_" + std::to_string(getpid());
  MachineProfile foreign = example_profile();
  foreign.machine = "Cray-1, 1 cores";
  write_machine_profile(path, foreign);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(machine_profile_or_why_not(path));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "fathom: " + path +
                ": profile of another machine ('Cray-1, 1 cores'). To measure this machine: fathom "
                "tune. Defaults are used\n");
  setenv("FATHOM_MACHINE_PROFILE", path.c_str(), 1);
  testing::internal::CaptureStderr();
  const Router router = Router::of_this_machine();
  testing::internal::GetCapturedStderr();
  unsetenv("FATHOM_MACHINE_PROFILE");
  EXPECT_EQ(router.devices().size(), 1u);
  EXPECT_EQ(router.route(Operation::matmul, 1024).device, kHost);
  std::filesystem::remove(path);
}

TEST(MachineProfile, IsWhatTheRouterOfThisMachineGoesBy) {
  const std::string path = testing::TempDir() + "/fathom_profile_own_" + std::to_string(getpid());
  write_machine_profile(path, example_profile());
  setenv("FATHOM_MACHINE_PROFILE", path.c_str(), 1);
  const Router router = Router::of_this_machine();
  unsetenv("FATHOM_MACHINE_PROFILE");
  EXPECT_EQ(router.route(Operation::matmul, 16).device, kHost);
  EXPECT_EQ(router.route(Operation::matmul, 1024).device, 1u);
  EXPECT_EQ(router.route(Operation::graph_search, 1e7).cause, RouteCause::told_by_file);
  std::filesystem::remove(path);
}

TEST(DeviceModels, AreReadFromAFile) {
  const std::string path = testing::TempDir() + "models.json";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write(R"([{"name": "gpu", "launch_ns": 5000, "flops_per_second": 1e13, "memory_bytes": 1000}])");
  const auto models = read_device_models(path);
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].name, "gpu");
  EXPECT_EQ(models[0].launch_ns, 5000);
  EXPECT_EQ(models[0].memory_bytes, 1000u);
  EXPECT_FALSE(models[0].shares_host_memory);
  const auto message = [&](const std::string& of) {
    try {
      read_device_models(of);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* wrong : {"", "{}", "[{}]", R"([{"name": "gpu", "launch_ns": -1}])",
                            R"([{"name": "gpu", "flops_per_second": 0}])", "[{\"name\""}) {
    write(wrong);
    EXPECT_TRUE(message(path).starts_with(path)) << wrong;
    EXPECT_EQ(message(path).find('\n'), std::string::npos) << wrong;
  }
  EXPECT_EQ(message("/nonexistent.json"), "/nonexistent.json: no such file");
  std::remove(path.c_str());
}

TEST(MachineProfile, ThereMayBeNone) {
  EXPECT_FALSE(machine_profile_or_why_not("/nonexistent/machine.json"));
  EXPECT_FALSE(machine_profile_or_why_not(""));
}

}  // namespace
}  // namespace fathom::runtime
