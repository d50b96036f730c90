#include "runtime/cuda/kernels.h"

// What nvcc made of kernels.cu, as bytes of the library. FATHOM_CUDA_KERNELS is its path in the
// build folder.
asm(R"(
  .section .rodata
  .balign 16
  .global fathom_cuda_kernels
  .hidden fathom_cuda_kernels
fathom_cuda_kernels:
  .incbin ")" FATHOM_CUDA_KERNELS R"("
  .previous
)");

extern "C" const char fathom_cuda_kernels[];

namespace fathom::runtime {

const void* cuda_kernels() {
  return fathom_cuda_kernels;
}

}  // namespace fathom::runtime
