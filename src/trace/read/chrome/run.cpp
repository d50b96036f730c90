#include "trace/read/chrome/run.h"

#include <nlohmann/json.hpp>

namespace fathom::trace {
namespace {

using Json = nlohmann::json;

std::optional<std::int64_t> integer(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer()) return std::nullopt;
  return at->get<std::int64_t>();
}

DeviceInfo device_of(const Json& json) {
  DeviceInfo device;
  device.id = integer(json, "id").value_or(0);
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) {
    device.name = name->get<std::string>();
  }
  device.memory_bytes = integer(json, "totalGlobalMem");
  device.multiprocessors = integer(json, "numSms");
  return device;
}

}  // namespace

RunInfo run_info_of(const std::vector<HeadingValue>& heading) {
  RunInfo run;
  run.format = "Chrome JSON";
  for (const HeadingValue& value : heading) {
    const bool is_of_chrome =
        value.key == "displayTimeUnit" || value.key == "traceName" || value.key == "otherData";
    if (!is_of_chrome) run.format = "Kineto JSON";
    const Json json = Json::parse(value.json, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) continue;
    if (value.key == "traceName" && json.is_string()) {
      run.title = json.get<std::string>();
    } else if (value.key == "baseTimeNanoseconds" && json.is_number_integer()) {
      run.base_time_ns = json.get<std::int64_t>();
    } else if (value.key == "distributedInfo") {
      run.rank = integer(json, "rank");
      run.world_size = integer(json, "world_size");
    } else if (value.key == "otherData" && json.is_object()) {
      // Chrome's place for what its format has no other; ours are in what `convert` writes.
      if (const auto command = json.find("command");
          command != json.end() && command->is_string()) {
        run.command = command->get<std::string>();
      }
      run.dropped_spans = integer(json, "dropped_spans");
    } else if (value.key == "deviceProperties" && json.is_array()) {
      for (const Json& device : json) {
        if (device.is_object()) run.devices.push_back(device_of(device));
      }
    }
  }
  return run;
}

}  // namespace fathom::trace
