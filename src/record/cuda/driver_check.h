#pragma once

#include <optional>
#include <string>

namespace fathom::record::cuda {

// The NVIDIA driver, as far as a program on this machine will find it.
struct DriverCheck {
  bool found = false;
  std::optional<int> cuda_version;  // the newest CUDA it runs: 13000 is 13.0
  std::string line;                 // what there is, or what is missing, for people
};

// Opens the driver library and asks its version; starts nothing and touches no GPU. CUPTI cannot
// be asked: without a driver it answers "unknown error" to everything.
DriverCheck check_cuda_driver(const char* library = "libcuda.so.1");

}  // namespace fathom::record::cuda
