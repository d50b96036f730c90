#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/pci_gpus.h"

// How fast devices are, measured through OpenCL within seconds.
namespace fathom::devices {

// Of several runs.
struct Measured {
  double median = 0;
  double least = 0;
  double most = 0;

  double spread_percent() const { return median > 0 ? 100 * (most - least) / median : 0; }
};

// What could not be measured is absent.
struct Benchmark {
  std::string name;
  std::string type;         // as GpuDevice::type
  std::string pci_address;  // empty where it is not known
  std::string problem;      // why it was not measured to the end; empty where it was

  // From and to memory of the host that the device reads and writes by itself ("pinned").
  std::optional<Measured> to_device_bytes_per_second;
  std::optional<Measured> from_device_bytes_per_second;
  std::optional<PciLink> link;             // as it was right after the copies
  std::optional<Measured> launch_seconds;  // an empty kernel, until the host knows
  // a + s b, element by element: what the memory of the device can do.
  std::optional<Measured> memory_bytes_per_second;
  // Multiplications and additions of 32-bit floats that need no memory.
  std::optional<Measured> vector_flops;
  // A product of matrices of 32-bit floats, by a kernel of 40 lines.
  std::optional<Measured> matmul_flops;
  // Whether copies, sums and products were what they must be, to the last bit.
  std::optional<bool> results_are_right;
};

// Measures all devices of OpenCL, one after the other; none where there is no OpenCL. `on_step` is
// told before each step how many there are and which it is, from 0.
std::vector<Benchmark> measure_devices(
    const Roots& roots, const std::function<void(std::size_t step, std::size_t steps)>& on_step);

}  // namespace fathom::devices
