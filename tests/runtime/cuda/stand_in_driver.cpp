// Stands in for libcuda.so.1: memory is the host's, and kernels run here, one thread after the
// other. It shows that the backend asks for what it means; not that a GPU does it.
#include <cuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

struct Coordinates {
  unsigned x;
};
Coordinates blockIdx, threadIdx, gridDim, blockDim;  // NOLINT(readability-identifier-naming)

}  // namespace

#define __device__
#define __global__
#include "runtime/cuda/kernels.cu"

namespace {

template <typename... Arguments, std::size_t... I>
void call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_cv_t<Arguments>*>(arguments[I])...);
}

template <auto kKernel, typename... Arguments>
void call_as(void (*)(Arguments...), void** arguments) {
  call(kKernel, arguments, std::index_sequence_for<Arguments...>{});
}

template <auto kKernel>
void run(void** arguments) {
  call_as<kKernel>(kKernel, arguments);
}

using Run = void (*)(void** arguments);
struct Kernel {
  std::string_view name;
  Run run;
};
constexpr Kernel kKernels[] = {{"xor_words", run<xor_words>}, {"elementwise", run<elementwise>},
                               {"matmul", run<matmul>},       {"sum", run<sum>},
                               {"sum_parts", run<sum_parts>}, {"search_level", run<search_level>}};

int context_depth = 0;  // NOLINT: of the one thread that tests use
bool is_loaded = false;

CUresult in_context(CUresult result = CUDA_SUCCESS) {
  return context_depth > 0 ? result : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

STAND_IN cuInit(unsigned) {
  return CUDA_SUCCESS;
}
STAND_IN cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}
STAND_IN cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
STAND_IN cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return CUDA_SUCCESS;
}
STAND_IN cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "stand-in", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
STAND_IN cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
STAND_IN cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
STAND_IN cuDevicePrimaryCtxRelease(CUdevice) {
  return CUDA_SUCCESS;
}
STAND_IN cuCtxPushCurrent(CUcontext) {
  ++context_depth;
  return CUDA_SUCCESS;
}
STAND_IN cuCtxPopCurrent(CUcontext*) {
  --context_depth;
  return CUDA_SUCCESS;
}
STAND_IN cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(2);
  return in_context();
}
STAND_IN cuStreamDestroy(CUstream) {
  return in_context();
}
STAND_IN cuStreamSynchronize(CUstream) {
  return in_context();
}
STAND_IN cuMemAlloc(CUdeviceptr* memory, std::size_t bytes) {
  if (bytes > (std::size_t{1} << 30)) return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return in_context();
}
STAND_IN cuMemFree(CUdeviceptr memory) {
  std::free(reinterpret_cast<void*>(memory));
  return in_context();
}
STAND_IN cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return in_context();
}
STAND_IN cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return in_context();
}
STAND_IN cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream) {
  std::fill_n(reinterpret_cast<unsigned*>(to), count, value);
  return in_context();
}
STAND_IN cuModuleLoadData(CUmodule* module, const void* image) {
  unsigned magic = 0;  // of what nvcc -fatbin writes
  std::memcpy(&magic, image, sizeof magic);
  if (magic != 0xba55ed50) return CUDA_ERROR_INVALID_IMAGE;
  is_loaded = true;
  *module = reinterpret_cast<CUmodule>(3);
  return in_context();
}
STAND_IN cuModuleUnload(CUmodule) {
  return in_context();
}
STAND_IN cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  const auto* const found = std::ranges::find(kKernels, std::string_view(name), &Kernel::name);
  if (!is_loaded || found == std::end(kKernels)) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(const_cast<Kernel*>(found));
  return in_context();
}
STAND_IN cuLaunchKernel(CUfunction function, unsigned groups, unsigned, unsigned, unsigned threads,
                        unsigned, unsigned, unsigned, CUstream, void** arguments, void**) {
  // Set, the GPU falls off the bus at the first kernel.
  if (std::getenv("STAND_IN_FAILS") != nullptr) return CUDA_ERROR_LAUNCH_FAILED;
  gridDim.x = groups;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < groups; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
      reinterpret_cast<const Kernel*>(function)->run(arguments);
    }
  }
  return in_context();
}
