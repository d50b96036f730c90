#pragma once

#include <optional>
#include <string>
#include <string_view>

// Sensors of a device, as the kernel's hwmon gives them: files like temp1_input in a folder whose
// number changes from boot to boot.
namespace fathom::devices {

// The folder of the sensors that call themselves `name`; empty where there are none.
std::string hwmon_folder(const std::string& pci_folder, std::string_view name);

// "temp2", of the sensor of this kind that is labelled so; empty where there is none.
std::string hwmon_sensor(const std::string& folder, std::string_view kind, std::string_view label);

// A file of the folder times its unit; absent where there is no folder.
std::optional<double> hwmon_value(const std::string& folder, const std::string& file, double unit);

constexpr double kMilli = 1e-3;  // of temperatures
constexpr double kMicro = 1e-6;  // of power and energy

}  // namespace fathom::devices
