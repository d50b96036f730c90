#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "fathom/gpu_device.h"

// A device as JSON, for every command and the server: the schema Device of docs/openapi.yaml and of
// docs/devices.schema.json. What is not known is absent.
namespace fathom::devices {

// Command lines may hold secrets: mask them (monitor/redact.h) before they are shown.
enum class Commands { hidden, shown };

void write_device(base::JsonWriter& json, const GpuDevice& device, Commands commands);

// How states and reasons are called in JSON, in the metrics and in tables.
std::string_view name_of(DeviceState state);
std::string_view name_of(ThrottleReason reason);
std::vector<ThrottleReason> throttle_reasons_of(std::uint32_t bits);  // the alarming ones first

}  // namespace fathom::devices
