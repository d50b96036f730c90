#include "devices/device_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "devices/demo.h"

namespace fathom::devices {
namespace {

using Json = nlohmann::json;

Json written(const GpuDevice& device, Commands commands = Commands::hidden) {
  std::string text;
  base::JsonWriter json(text);
  write_device(json, device, commands);
  return Json::parse(text);
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

// The names of the properties of a schema of docs/openapi.yaml, by how the file is indented.
std::set<std::string> properties_in_openapi(const std::string& schema) {
  std::ifstream file(FATHOM_SOURCE_DIR "/docs/openapi.yaml");
  std::set<std::string> names;
  std::string line;
  while (std::getline(file, line) && line != "    " + schema + ":") {
  }
  while (std::getline(file, line) && line.starts_with("      ")) {
    const std::size_t colon = line.find(':');
    if (line.find_first_not_of(' ') == 8 && colon != std::string::npos) {
      names.insert(line.substr(8, colon - 8));
    }
  }
  return names;
}

TEST(DeviceJson, WhatIsNotKnownIsAbsent) {
  EXPECT_EQ(keys(written({.uuid = "GPU-1"})),
            (std::set<std::string>{"backend", "index", "name", "processes", "processes_are_partial",
                                   "state", "type", "uuid", "vendor"}));
}

TEST(DeviceJson, WhatIsZeroIsThere) {
  GpuDevice device;
  device.now.utilization_percent = 0;
  device.now.throttle = 0;
  device.now.ecc_uncorrected = 0;
  const Json json = written(device);
  EXPECT_EQ(json.at("utilization_percent"), 0);
  EXPECT_EQ(json.at("throttle"), Json::array());
  EXPECT_EQ(json.at("ecc_uncorrected"), 0);
}

TEST(DeviceJson, AllFieldsOfADeviceThatTellsAll) {
  GpuDevice device = demo_devices(1, 30)[0];
  device.pci_address = "0000:3b:00.0";
  device.now.fan_rpm = 1200;
  device.age_seconds = 0.5;
  device.needs_reset = true;
  device.last_error = DeviceError{.uuid = device.uuid, .time_ns = 5, .xid = 79};
  const Json json = written(device);
  EXPECT_EQ(json.at("last_error"), Json::parse(R"({"xid": 79, "time_ns": 5})"));
  EXPECT_EQ(keys(json), properties_in_openapi("Device"));
  EXPECT_EQ(json.at("memory_total_bytes"), *device.memory_total_bytes);
  EXPECT_EQ(json.at("power_watts"), *device.now.power_watts);
  EXPECT_EQ(json.at("pci_address"), "0000:3b:00.0");
}

TEST(DeviceJson, CommandsOnlyWhereTheyMayBeShown) {
  GpuDevice device;
  device.processes = {{.pid = 7, .name = "train", .command = "train --token x", .memory_bytes = 5}};
  EXPECT_EQ(written(device).at("processes"),
            Json::parse(R"([{"pid": 7, "name": "train", "memory_bytes": 5}])"));
  EXPECT_EQ(written(device, Commands::shown).at("processes").at(0).at("command"),
            "train --token x");
}

TEST(DeviceJson, StatesAndReasonsByName) {
  GpuDevice device;
  device.state = DeviceState::no_permission;
  device.now.throttle = static_cast<std::uint32_t>(ThrottleReason::idle) |
                        static_cast<std::uint32_t>(ThrottleReason::power_cap);
  const Json json = written(device);
  EXPECT_EQ(json.at("state"), "no_permission");
  EXPECT_EQ(json.at("throttle"), Json::parse(R"(["power_cap", "idle"])"));
}

}  // namespace
}  // namespace fathom::devices
