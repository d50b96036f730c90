#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/machine_profile.h"

namespace fathom::runtime {

struct TuneStep {
  std::size_t done = 0;
  std::size_t all = 0;
  std::string what;  // "matmul on opencl:0"
};

struct TuneOptions {
  std::string path;  // of the profile; written after each curve, so that tuning can go on later
  bool begins_anew = false;
  bool uses_cuda = true;
  bool uses_opencl = true;
  double seconds_per_curve = 0.5;  // about; a curve stops at the size that takes longer
  std::function<void(const TuneStep&)> progress = {};
};

// Median times over sizes, data on the device already. The first call of a size does not count.
std::vector<CallTime> measure_curve(Device& device, Clock& clock, Operation operation,
                                    double seconds);
// One call, warm; nothing was measured: 0.
double measure_call(Device& device, Clock& clock, Operation operation, double size);
// Launch and link as they are measured; the rest of the model as it was.
DeviceModel measure_model(Device& device, Clock& clock);

// Measures what the profile does not have yet. A device that fails on the way is left out.
MachineProfile tune(const std::vector<std::unique_ptr<Device>>& devices, Clock& clock,
                    const TuneOptions& options);

}  // namespace fathom::runtime
