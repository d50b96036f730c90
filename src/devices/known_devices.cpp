#include "devices/known_devices.h"

#include <algorithm>
#include <utility>

namespace fathom::devices {
namespace {

// What it is stays known; what it did is not what it does.
void keep_identity(GpuDevice& device, DeviceState state) {
  device.state = state;
  device.now = {};
  device.processes.clear();
  device.needs_reset = false;
}

// Whether both are one piece of hardware. The parts of a GPU share its address.
bool is_same(const GpuDevice& a, const GpuDevice& b) {
  if (a.uuid == b.uuid) return true;
  return !a.pci_address.empty() && a.pci_address == b.pci_address && a.type != "mig" &&
         b.type != "mig";
}

// Its driver may not tell its UUID while it sleeps.
bool is_known_as(const GpuDevice& device, const GpuDevice& old) {
  const std::string by_address = "pci-" + device.pci_address;
  return old.uuid == device.uuid ||
         (is_same(device, old) && (old.uuid == by_address || device.uuid == by_address));
}

}  // namespace

void KnownDevices::take(std::size_t backend, std::vector<GpuDevice> told, bool has_processes,
                        Time time) {
  std::vector<Known>& known = of_backend_[backend];
  // A part of a GPU that is gone was taken apart on purpose.
  std::erase_if(known, [&](const Known& old) {
    return old.device.type == "mig" &&
           std::ranges::find(told, old.device.uuid, &GpuDevice::uuid) == told.end();
  });
  std::vector<bool> is_told(known.size());
  for (GpuDevice& device : told) {
    const auto old = std::ranges::find_if(
        known, [&](const Known& each) { return is_known_as(device, each.device); });
    if (old == known.end()) {
      known.push_back({std::move(device), time});
      is_told.push_back(true);
      continue;
    }
    is_told[static_cast<std::size_t>(old - known.begin())] = true;
    if (device.state == DeviceState::lost) {
      keep_identity(old->device, DeviceState::lost);
      continue;
    }
    if (device.state == DeviceState::suspended) {
      keep_identity(old->device, DeviceState::suspended);
      old->answered = time;
      continue;
    }
    if (!has_processes && device.state == DeviceState::ok) {
      device.processes = std::move(old->device.processes);
      device.processes_are_partial = old->device.processes_are_partial;
    }
    *old = {std::move(device), time};
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!is_told[i]) keep_identity(known[i].device, DeviceState::lost);
  }
}

void KnownDevices::lose(std::size_t backend) {
  for (Known& known : of_backend_[backend]) keep_identity(known.device, DeviceState::lost);
}

std::vector<GpuDevice> KnownDevices::list(Time now) const {
  std::vector<GpuDevice> all;
  for (const std::vector<Known>& known : of_backend_) {
    const std::size_t of_earlier_backends = all.size();
    for (const Known& each : known) {
      const auto is_this = [&](const GpuDevice& other) { return is_same(other, each.device); };
      const auto earlier_end = all.begin() + static_cast<std::ptrdiff_t>(of_earlier_backends);
      if (std::any_of(all.begin(), earlier_end, is_this)) continue;
      all.push_back(each.device);
      all.back().index = static_cast<unsigned>(all.size() - 1);
      all.back().age_seconds = std::chrono::duration<double>(now - each.answered).count();
    }
  }
  return all;
}

}  // namespace fathom::devices
