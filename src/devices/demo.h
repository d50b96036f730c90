#pragma once

#include "devices/backend.h"

namespace fathom::devices {

// The devices of demo_backend(seed) so many seconds after its start: the same seed and time give
// the same values.
std::vector<GpuDevice> demo_devices(unsigned seed, double elapsed_seconds);

}  // namespace fathom::devices
