#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fathom/router.h"

// What `fathom tune` measured on this machine, as a JSON file. docs/acting.md has the form.
namespace fathom::runtime {

struct ProfileCurve {
  Operation operation = Operation::xor_words;
  std::string device;
  std::vector<CallTime> calls;  // by size
};

struct MachineProfile {
  std::string machine;               // machine_name() where it was measured
  std::vector<DeviceModel> devices;  // the host first
  std::vector<ProfileCurve> curves;
  std::vector<std::pair<Operation, std::string>> routes;  // what the owner of the file decided

  const ProfileCurve* curve(Operation operation, const std::string& device) const;
};

// "AMD EPYC, 2 cores".
std::string machine_name(const std::string& cpuinfo = "/proc/cpuinfo");

// FATHOM_MACHINE_PROFILE, else fathom/machine.json in XDG_CONFIG_HOME or ~/.config. Empty where
// there is none of these.
std::string machine_profile_path();

std::string to_json(const MachineProfile& profile);
void write_machine_profile(const std::string& path, const MachineProfile& profile);

// Nothing where there is no file. Throws base::Error where it is damaged, of another version or of
// another machine.
std::optional<MachineProfile> read_machine_profile(const std::string& path,
                                                   const std::string& machine);
MachineProfile parse_machine_profile(const std::string& text, const std::string& path);
// The same, but what is wrong becomes a line on standard error, with what is done instead, and
// there is no profile.
std::optional<MachineProfile> machine_profile_or_why_not(
    const std::string& path, std::string_view instead = "Defaults are used");

// The same devices, with the launches and links that were measured on them. What the profile knows
// of a name that another device has now is left aside, which is said in one line on standard error.
std::vector<DeviceModel> with_measured(std::vector<DeviceModel> devices,
                                       const MachineProfile& profile);
// Whether a device is the one that was measured under its name.
bool is_same(const DeviceModel& measured, const DeviceModel& now);

// Whether there is a file of this name that is not empty and does not begin as a profile does:
// nothing to write a profile over.
bool is_something_else(const std::string& path);

// Tells a router what the profile knows of its devices.
void apply(const MachineProfile& profile, Router& router);

}  // namespace fathom::runtime
