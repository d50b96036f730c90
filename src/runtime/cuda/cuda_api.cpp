#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>

#include <array>

#include "base/shared_library.h"

namespace fathom::runtime {
namespace {

constexpr std::array<const char*, 3> kCublasNames = {"libcublas.so.13", "libcublas.so.12",
                                                     "libcublas.so"};

void* open_cublas(const std::string& library) {
  if (!library.empty()) return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return base::open_library(kCublasNames, FATHOM_BUILT_WITH_CUBLAS);
}

}  // namespace

std::optional<CudaDriver> load_cuda_driver(const std::string& library) {
  void* const driver = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  CudaDriver api;
  // _v2 as in cuda.h, whose names are macros for these.
  const bool has_all =
      driver != nullptr && base::find_function(driver, "cuInit", api.init) &&
      base::find_function(driver, "cuGetErrorName", api.get_error_name) &&
      base::find_function(driver, "cuDeviceGetCount", api.device_get_count) &&
      base::find_function(driver, "cuDeviceGet", api.device_get) &&
      base::find_function(driver, "cuDeviceGetName", api.device_get_name) &&
      base::find_function(driver, "cuDeviceTotalMem_v2", api.device_total_mem) &&
      base::find_function(driver, "cuDevicePrimaryCtxRetain", api.primary_context_retain) &&
      base::find_function(driver, "cuDevicePrimaryCtxRelease_v2", api.primary_context_release) &&
      base::find_function(driver, "cuCtxPushCurrent_v2", api.context_push) &&
      base::find_function(driver, "cuCtxPopCurrent_v2", api.context_pop) &&
      base::find_function(driver, "cuStreamCreate", api.stream_create) &&
      base::find_function(driver, "cuStreamDestroy_v2", api.stream_destroy) &&
      base::find_function(driver, "cuStreamSynchronize", api.stream_synchronize) &&
      base::find_function(driver, "cuMemAlloc_v2", api.mem_alloc) &&
      base::find_function(driver, "cuMemFree_v2", api.mem_free) &&
      base::find_function(driver, "cuMemcpyHtoDAsync_v2", api.copy_to_device) &&
      base::find_function(driver, "cuMemcpyDtoHAsync_v2", api.copy_to_host) &&
      base::find_function(driver, "cuMemsetD32Async", api.fill_words) &&
      base::find_function(driver, "cuModuleLoadData", api.module_load_data) &&
      base::find_function(driver, "cuModuleUnload", api.module_unload) &&
      base::find_function(driver, "cuModuleGetFunction", api.module_get_function) &&
      base::find_function(driver, "cuLaunchKernel", api.launch_kernel);
  if (!has_all) return std::nullopt;
  return api;
}

std::optional<Cublas> load_cublas(const std::string& library) {
  void* const cublas = open_cublas(library);
  Cublas api;
  const bool has_all = cublas != nullptr &&
                       base::find_function(cublas, "cublasCreate_v2", api.create) &&
                       base::find_function(cublas, "cublasDestroy_v2", api.destroy) &&
                       base::find_function(cublas, "cublasSetStream_v2", api.set_stream) &&
                       base::find_function(cublas, "cublasSgemmStridedBatched", api.multiply);
  if (!has_all) return std::nullopt;
  return api;
}

}  // namespace fathom::runtime
