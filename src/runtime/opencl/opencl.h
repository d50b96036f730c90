#pragma once

#include <memory>
#include <vector>

#include "runtime/device.h"

namespace fathom::runtime {

// All OpenCL devices of this machine, "opencl:0" first. None is fine. Kernels are compiled when a
// device is first used.
std::vector<std::unique_ptr<Device>> opencl_devices();

}  // namespace fathom::runtime
