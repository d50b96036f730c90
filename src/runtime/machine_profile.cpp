#include "runtime/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/json_scan.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "base/printable.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

constexpr std::int64_t kProfileVersion = 1;
constexpr std::size_t kMostProfileBytes = 4 << 20;  // one has some kilobytes per device
constexpr std::string_view kVersionKey = "fathom_machine";
constexpr const char* kMakeAnew = "To measure this machine: fathom tune";
using base::JsonScanner;

struct Damaged {
  std::string what;
};

template <typename Each>
void members(std::string_view object, const Each& each) {
  if (!base::for_each_member(object, JsonScanner::Mode::strict, each)) throw Damaged{"not JSON"};
}

template <typename Each>
void elements(std::string_view array, const Each& each) {
  JsonScanner scan(array);
  if (!scan.take('[')) throw Damaged{"not an array"};
  if (scan.take(']')) return;
  do {
    const auto value = scan.value();
    if (!value) throw Damaged{"not JSON"};
    each(*value);
  } while (scan.take(','));
  if (!scan.take(']')) throw Damaged{"not JSON"};
}

std::string text_of(std::string_view value) {
  std::optional<std::string> text = base::text_of(value);
  if (!text) throw Damaged{"text is missing"};
  return std::move(*text);
}

double positive(std::string_view value) {
  const auto number = base::real_of(value);
  if (!number || !std::isfinite(*number) || *number < 0) {
    throw Damaged{fmt::format("invalid number '{}'", value)};
  }
  return *number;
}

Operation operation_of(const std::string& name) {
  const auto operation = operation_named(name);
  if (!operation) throw Damaged{fmt::format("unknown operation '{}'", name)};
  return *operation;
}

DeviceModel model_of(std::string_view object) {
  DeviceModel model;
  const auto rate = [](std::string_view value) {
    const double number = positive(value);
    if (number == 0) throw Damaged{"a rate of 0"};
    return number;
  };
  members(object, [&](std::string_view key, std::string_view value) {
    if (key == "name") model.name = text_of(value);
    if (key == "description") model.description = text_of(value);
    if (key == "shares_host_memory") model.shares_host_memory = value == "true";
    if (key == "launch_ns") model.launch_ns = positive(value);
    if (key == "link_latency_ns") model.link_latency_ns = positive(value);
    if (key == "link_bytes_per_second") model.link_bytes_per_second = rate(value);
    if (key == "flops_per_second") model.flops_per_second = rate(value);
    if (key == "memory_bytes_per_second") model.memory_bytes_per_second = rate(value);
    if (key == "memory_bytes" && value != "null") {
      const double bytes = positive(value);
      if (bytes >= 0x1p63) throw Damaged{fmt::format("invalid number '{}'", value)};
      model.memory_bytes = static_cast<std::uint64_t>(bytes);
    }
  });
  if (model.name.empty()) throw Damaged{"a device without a name"};
  return model;
}

CallTime call_of(std::string_view pair) {
  std::vector<double> numbers;
  elements(pair, [&](std::string_view value) { numbers.push_back(positive(value)); });
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[1] <= 0) throw Damaged{"not a call"};
  return {numbers[0], numbers[1]};
}

ProfileCurve curve_of(std::string_view object) {
  ProfileCurve curve;
  bool has_operation = false;
  members(object, [&](std::string_view key, std::string_view value) {
    if (key == "operation") curve.operation = operation_of(text_of(value)), has_operation = true;
    if (key == "device") curve.device = text_of(value);
    if (key != "calls") return;
    elements(value, [&](std::string_view pair) { curve.calls.push_back(call_of(pair)); });
  });
  if (!has_operation || curve.calls.empty()) throw Damaged{"a curve without calls"};
  return curve;
}

void write_model(base::JsonWriter& json, const DeviceModel& model) {
  json.begin_object().key("name").value(model.name);
  if (!model.description.empty()) json.key("description").value(model.description);
  json.key("shares_host_memory").value(model.shares_host_memory);
  json.key("launch_ns").value(model.launch_ns);
  json.key("link_latency_ns").value(model.link_latency_ns);
  json.key("link_bytes_per_second").value(model.link_bytes_per_second);
  json.key("flops_per_second").value(model.flops_per_second);
  json.key("memory_bytes_per_second").value(model.memory_bytes_per_second);
  json.key("memory_bytes").value(model.memory_bytes);
  json.end_object();
}

std::optional<std::string> contents(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw base::Error(path, "is a directory, not a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMostProfileBytes + 1, '\0');  // one more: then it is refused
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostProfileBytes) throw base::Error(path, "is too large for a profile");
  return text;
}

}  // namespace

const ProfileCurve* MachineProfile::curve(Operation operation, const std::string& device) const {
  const auto found = std::ranges::find_if(curves, [&](const ProfileCurve& curve) {
    return curve.operation == operation && curve.device == device;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::string machine_name(const std::string& cpuinfo) {
  std::ifstream file(cpuinfo);
  std::string model = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) model = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} cores", model, std::max(1u, std::thread::hardware_concurrency()));
}

std::string machine_profile_path() {
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::string(value) : std::string();
  };
  if (std::string path = set("FATHOM_MACHINE_PROFILE"); !path.empty()) return path;
  if (const std::string folder = set("XDG_CONFIG_HOME"); !folder.empty()) {
    return folder + "/fathom/machine.json";
  }
  if (const std::string home = set("HOME"); !home.empty()) {
    return home + "/.config/fathom/machine.json";
  }
  return {};
}

std::string to_json(const MachineProfile& profile) {
  std::string text;
  base::JsonWriter json(text);
  json.begin_object().key(kVersionKey).value(kProfileVersion);
  json.key("machine").value(profile.machine);
  json.key("devices").begin_array();
  for (const DeviceModel& model : profile.devices) write_model(json, model);
  json.end_array().key("curves").begin_array();
  for (const ProfileCurve& curve : profile.curves) {
    json.begin_object().key("operation").value(name_of(curve.operation));
    json.key("device").value(curve.device).key("calls").begin_array();
    for (const CallTime& call : curve.calls) {
      json.begin_array().value(call.size).value(call.ns).end_array();
    }
    json.end_array().end_object();
  }
  json.end_array().key("routes").begin_object();
  for (const auto& [operation, device] : profile.routes) {
    json.key(name_of(operation)).value(device);
  }
  json.end_object().end_object();
  return text + "\n";
}

void write_machine_profile(const std::string& path, const MachineProfile& profile) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  base::Output output(path);
  output.buffer() = to_json(profile);
  output.finish();
}

MachineProfile parse_machine_profile(const std::string& text, const std::string& path) {
  MachineProfile profile;
  std::optional<std::int64_t> version;
  try {
    members(text, [&](std::string_view key, std::string_view value) {
      if (key == kVersionKey) version = base::integer_of(value);
    });
    members(text, [&](std::string_view key, std::string_view value) {
      if (version != kProfileVersion) return;
      if (key == "machine") profile.machine = text_of(value);
      if (key == "devices") {
        elements(value, [&](std::string_view v) { profile.devices.push_back(model_of(v)); });
      }
      if (key == "curves") {
        elements(value, [&](std::string_view v) { profile.curves.push_back(curve_of(v)); });
      }
      if (key != "routes") return;
      members(value, [&](std::string_view name, std::string_view device) {
        profile.routes.emplace_back(operation_of(base::unescaped(name)), text_of(device));
      });
    });
  } catch (const Damaged& damage) {
    throw base::Error(path, "damaged machine profile: " + damage.what, kMakeAnew);
  }
  if (!version) throw base::Error(path, "not a machine profile", kMakeAnew);
  if (version != kProfileVersion) {
    throw base::Error(
        path, fmt::format("machine profile of version {}, not {}", *version, kProfileVersion),
        kMakeAnew);
  }
  if (profile.devices.empty())
    throw base::Error(path, "machine profile without devices", kMakeAnew);
  return profile;
}

std::optional<MachineProfile> read_machine_profile(const std::string& path,
                                                   const std::string& machine) {
  const auto text = path.empty() ? std::nullopt : contents(path);
  if (!text) return std::nullopt;
  MachineProfile profile = parse_machine_profile(*text, path);
  if (profile.machine != machine) {
    throw base::Error(path, fmt::format("profile of another machine ('{}')", profile.machine),
                      kMakeAnew);
  }
  return profile;
}

std::optional<MachineProfile> machine_profile_or_why_not(const std::string& path,
                                                         std::string_view instead) {
  try {
    return read_machine_profile(path, machine_name());
  } catch (const base::Error& error) {
    base::say(stderr, "fathom: " + base::printable(error.what()) + fmt::format(". {}\n", instead));
    return std::nullopt;
  }
}

bool is_same(const DeviceModel& measured, const DeviceModel& now) {
  return measured.name == now.name && (measured.description == now.description ||
                                       measured.description.empty() || now.description.empty());
}

std::vector<DeviceModel> with_measured(std::vector<DeviceModel> devices,
                                       const MachineProfile& profile) {
  for (DeviceModel& device : devices) {
    const auto found = std::ranges::find(profile.devices, device.name, &DeviceModel::name);
    if (found == profile.devices.end()) continue;
    if (!is_same(*found, device)) {
      base::say(stderr, base::printable(fmt::format(
                            "fathom: {}: '{}' was measured, '{}' is there now. {}", device.name,
                            found->description, device.description, kMakeAnew)) +
                            "\n");
      continue;
    }
    device.launch_ns = found->launch_ns;
    device.link_latency_ns = found->link_latency_ns;
    device.link_bytes_per_second = found->link_bytes_per_second;
  }
  return devices;
}

bool is_something_else(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return false;
  if (!std::filesystem::is_regular_file(path, unknown)) return true;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostProfileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty()) return std::filesystem::file_size(path, unknown) != 0;
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  const bool is_object = first != std::string::npos && text[first] == '{';
  return !is_object || text.find('"' + std::string(kVersionKey) + '"') == std::string::npos;
}

void apply(const MachineProfile& profile, Router& router) {
  for (const ProfileCurve& curve : profile.curves) {
    const auto device = router.device_named(curve.device);
    if (!device) continue;
    const auto measured = std::ranges::find(profile.devices, curve.device, &DeviceModel::name);
    if (measured != profile.devices.end() && !is_same(*measured, router.devices()[*device])) {
      continue;
    }
    router.calibrate(curve.operation, *device, curve.calls);
  }
  for (const auto& [operation, name] : profile.routes) {
    const auto device = router.device_named(name);
    if (device) router.force_by_file(operation, *device);
  }
}

}  // namespace fathom::runtime

namespace fathom {

std::vector<DeviceModel> read_device_models(const std::string& path) {
  const auto text = runtime::contents(path);
  if (!text) throw base::Error(path, "no such file");
  std::vector<DeviceModel> models;
  try {
    runtime::elements(
        *text, [&](std::string_view object) { models.push_back(runtime::model_of(object)); });
  } catch (const runtime::Damaged& damage) {
    throw base::Error(path, damage.what, "A JSON array of devices is expected: docs/acting.md");
  }
  return models;
}

Router Router::of_this_machine(const RouterOptions& options) {
  const auto profile = runtime::machine_profile_or_why_not(runtime::machine_profile_path());
  RouterOptions asked = options;
  const char* const environment = std::getenv("FATHOM_ROUTE");
  if (environment != nullptr && !asked.environment) asked.environment = environment;
  if (!profile) return Router({runtime::default_cpu()}, asked);
  Router router(profile->devices, asked);
  runtime::apply(*profile, router);
  return router;
}

}  // namespace fathom
