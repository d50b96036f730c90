#pragma once

#include <cublas_v2.h>
#include <cuda.h>

#include <optional>
#include <string>

// The functions of the CUDA driver and of cuBLAS that the backend calls, found at run time, so that
// this library runs where there is neither. Members carry CUDA's names without the prefix, in our
// case.
namespace fathom::runtime {

struct CudaDriver {
  decltype(&cuInit) init = nullptr;
  decltype(&cuGetErrorName) get_error_name = nullptr;
  decltype(&cuDeviceGetCount) device_get_count = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetName) device_get_name = nullptr;
  decltype(&cuDeviceTotalMem) device_total_mem = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) primary_context_retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) primary_context_release = nullptr;
  decltype(&cuCtxPushCurrent) context_push = nullptr;
  decltype(&cuCtxPopCurrent) context_pop = nullptr;
  decltype(&cuStreamCreate) stream_create = nullptr;
  decltype(&cuStreamDestroy) stream_destroy = nullptr;
  decltype(&cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&cuMemAlloc) mem_alloc = nullptr;
  decltype(&cuMemFree) mem_free = nullptr;
  decltype(&cuMemcpyHtoDAsync) copy_to_device = nullptr;
  decltype(&cuMemcpyDtoHAsync) copy_to_host = nullptr;
  decltype(&cuMemsetD32Async) fill_words = nullptr;
  decltype(&cuModuleLoadData) module_load_data = nullptr;
  decltype(&cuModuleUnload) module_unload = nullptr;
  decltype(&cuModuleGetFunction) module_get_function = nullptr;
  decltype(&cuLaunchKernel) launch_kernel = nullptr;
};

struct Cublas {
  decltype(&cublasCreate) create = nullptr;
  decltype(&cublasDestroy) destroy = nullptr;
  decltype(&cublasSetStream) set_stream = nullptr;
  decltype(&cublasSgemmStridedBatched) multiply = nullptr;
};

// Nothing where the library is not there or lacks a function. Neither is ever unloaded: some
// versions do not survive that.
std::optional<CudaDriver> load_cuda_driver(const std::string& library);
// The one that is named, else one that the program has loaded already, the system's, or the one
// that this was built with.
std::optional<Cublas> load_cublas(const std::string& library);

}  // namespace fathom::runtime
