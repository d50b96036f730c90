#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace fathom::runtime {

struct OpenclOptions {
  std::string clblast = "libclblast.so.1";  // multiplies where it is there; else our own kernel
  // Not on CPUs: OpenBLAS is faster there, and CLBlast's kernels are the better part of a minute to
  // compile.
  bool uses_clblast_on_cpus = false;
};

// All OpenCL devices of this machine, "opencl:0" first. None is fine. Kernels are compiled when a
// device is first used.
std::vector<std::unique_ptr<Device>> opencl_devices(const OpenclOptions& options = {});

}  // namespace fathom::runtime
