#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/backend.h"

// GPUs as the kernel lists them on the PCI bus. Nothing here wakes one that sleeps.
namespace fathom::devices {

constexpr std::string_view kNvidiaId = "0x10de";
constexpr std::string_view kAmdId = "0x1002";
constexpr std::string_view kIntelId = "0x8086";

struct PciGpu {
  std::string address;             // "0000:03:00.0"
  std::string folder;              // its own in /sys
  std::string driver;              // "amdgpu"; empty while it has none
  std::vector<std::string> nodes;  // by which programs open it: "card0", "renderD128"
};

// By address. `vendor` as its file has it.
std::vector<PciGpu> pci_gpus(const Roots& roots, std::string_view vendor);

// Whether any GPU of any vendor sleeps.
bool any_gpu_sleeps(const Roots& roots);

// What people call it, as the lists of names that are installed know it (amdgpu.ids, pci.ids); else
// the vendor and the number of the device: "AMD GPU 73bf".
std::string name_of_gpu(const Roots& roots, const PciGpu& gpu, std::string_view vendor_name);

// How it is connected, one way.
struct PciLink {
  double bytes_per_second = 0;  // at most, without what packets cost
  int lanes = 0;
  int most_lanes = 0;  // that it could have
};
std::optional<PciLink> pci_link(const Roots& roots, const std::string& address);

// Of the driver: what the module says of itself, else the kernel that it is part of.
std::string driver_version(const Roots& roots, const std::string& driver);

}  // namespace fathom::devices
