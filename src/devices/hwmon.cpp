#include "devices/hwmon.h"

#include "devices/kernel_files.h"

namespace fathom::devices {

std::string hwmon_folder(const std::string& pci_folder, std::string_view name) {
  for (const std::string& each : names_in(pci_folder + "/hwmon")) {
    const std::string folder = pci_folder + "/hwmon/" + each;
    if (read_text(folder + "/name") == name) return folder;
  }
  return {};
}

std::string hwmon_sensor(const std::string& folder, std::string_view kind, std::string_view label) {
  if (folder.empty()) return {};
  constexpr std::string_view kEnd = "_label";
  for (const std::string& file : names_in(folder)) {
    if (!file.starts_with(kind) || !file.ends_with(kEnd)) continue;
    if (read_text(folder + "/" + file) == label) return file.substr(0, file.size() - kEnd.size());
  }
  return {};
}

std::optional<double> hwmon_value(const std::string& folder, const std::string& file, double unit) {
  if (folder.empty()) return {};
  const std::optional<std::int64_t> value = read_number(folder + "/" + file);
  if (!value) return {};
  return static_cast<double>(*value) * unit;
}

}  // namespace fathom::devices
