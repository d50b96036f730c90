#pragma once

#include <functional>
#include <optional>
#include <string>

#include "devices/backend.h"
#include "devices/nvml_library.h"

namespace fathom::devices::nvml {

// Notes what failed while a device was asked: some failures are not those of one question.
struct Failures {
  bool is_lost = false;      // this device
  bool needs_reset = false;  // this device, of NVIDIA's words; it still answers some questions
  int of_driver = kSuccess;  // the driver as a whole: the library must be started anew

  bool passed(int result);  // whether it was a success
};

// What does not change while it is there. Nothing where it does not even say its UUID.
std::optional<GpuDevice> identity(const Library& library, Device device, Failures& failures);
// What an administrator may change: power limit, clocks, thresholds.
void read_limits(const Library& library, Device device, GpuDevice& into, Failures& failures);
// What it does now.
void read_now(const Library& library, Device device, const Wanted& wanted, const Roots& roots,
              GpuDevice& into, Failures& failures);
// The same of a part of a GPU, which has memory but no sensors of its own. One that has none shares
// that of the machine, and is shown with it.
void read_memory(const Library& library, Device device, const Roots& roots, GpuDevice& into,
                 Failures& failures);

std::uint32_t throttle_reasons(std::uint64_t bits);

// "00000000:3B:00.0", as the library says it, is "0000:3b:00.0" to the kernel.
std::string kernel_address(const PciInfo& pci);

}  // namespace fathom::devices::nvml
