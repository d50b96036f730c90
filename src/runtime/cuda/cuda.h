#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace fathom::runtime {

// Libraries by name or path; tests name others. Empty cublas: the system's, or the one that this
// was built with.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string cublas = {};
};

// All CUDA devices of this machine, "cuda:0" first. None is fine: so it is without a driver. What a
// device needs is loaded when it is first used; without cuBLAS it multiplies by a kernel of our
// own.
std::vector<std::unique_ptr<Device>> cuda_devices(const CudaLibraries& libraries = {});

}  // namespace fathom::runtime
