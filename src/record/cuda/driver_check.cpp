#include "record/cuda/driver_check.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace fathom::record::cuda {
namespace {

using DriverGetVersion = int (*)(int* version);

}  // namespace

DriverCheck check_cuda_driver(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return {
        false, std::nullopt,
        fmt::format("no NVIDIA driver ({} is not installed): CUDA work is not recorded", library)};
  }
  // Left open: some driver versions do not survive being unloaded.
  const auto get_version = reinterpret_cast<DriverGetVersion>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  const int failed = get_version == nullptr ? -1 : get_version(&version);
  if (failed != 0 || version <= 0) {
    return {false, std::nullopt,
            fmt::format("{} is installed but is not a working NVIDIA driver (error {}): CUDA work "
                        "is not recorded",
                        library, failed)};
  }
  return {true, version,
          fmt::format("NVIDIA driver for CUDA {}.{}", version / 1000, version % 1000 / 10)};
}

}  // namespace fathom::record::cuda
