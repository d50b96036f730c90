#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>

#include <array>

namespace fathom::runtime {
namespace {

constexpr std::array<const char*, 3> kCublasNames = {"libcublas.so.13", "libcublas.so.12",
                                                     "libcublas.so"};

void* open_cublas(const std::string& library) {
  if (!library.empty()) return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* const name : kCublasNames) {
    if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  }
  for (const char* const name : kCublasNames) {
    if (void* const system = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return system;
  }
  return dlopen(FATHOM_BUILT_WITH_CUBLAS, RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<CudaDriver> load_cuda_driver(const std::string& library) {
  void* const driver = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  CudaDriver api;
  // _v2 as in cuda.h, whose names are macros for these.
  const bool has_all = driver != nullptr && find(driver, "cuInit", api.init) &&
                       find(driver, "cuGetErrorName", api.get_error_name) &&
                       find(driver, "cuDeviceGetCount", api.device_get_count) &&
                       find(driver, "cuDeviceGet", api.device_get) &&
                       find(driver, "cuDeviceGetName", api.device_get_name) &&
                       find(driver, "cuDeviceTotalMem_v2", api.device_total_mem) &&
                       find(driver, "cuDevicePrimaryCtxRetain", api.primary_context_retain) &&
                       find(driver, "cuDevicePrimaryCtxRelease_v2", api.primary_context_release) &&
                       find(driver, "cuCtxPushCurrent_v2", api.context_push) &&
                       find(driver, "cuCtxPopCurrent_v2", api.context_pop) &&
                       find(driver, "cuStreamCreate", api.stream_create) &&
                       find(driver, "cuStreamDestroy_v2", api.stream_destroy) &&
                       find(driver, "cuStreamSynchronize", api.stream_synchronize) &&
                       find(driver, "cuMemAlloc_v2", api.mem_alloc) &&
                       find(driver, "cuMemFree_v2", api.mem_free) &&
                       find(driver, "cuMemcpyHtoDAsync_v2", api.copy_to_device) &&
                       find(driver, "cuMemcpyDtoHAsync_v2", api.copy_to_host) &&
                       find(driver, "cuMemsetD32Async", api.fill_words) &&
                       find(driver, "cuModuleLoadData", api.module_load_data) &&
                       find(driver, "cuModuleUnload", api.module_unload) &&
                       find(driver, "cuModuleGetFunction", api.module_get_function) &&
                       find(driver, "cuLaunchKernel", api.launch_kernel);
  if (!has_all) return std::nullopt;
  return api;
}

std::optional<Cublas> load_cublas(const std::string& library) {
  void* const cublas = open_cublas(library);
  Cublas api;
  const bool has_all = cublas != nullptr && find(cublas, "cublasCreate_v2", api.create) &&
                       find(cublas, "cublasDestroy_v2", api.destroy) &&
                       find(cublas, "cublasSetStream_v2", api.set_stream) &&
                       find(cublas, "cublasSgemmStridedBatched", api.multiply);
  if (!has_all) return std::nullopt;
  return api;
}

}  // namespace fathom::runtime
