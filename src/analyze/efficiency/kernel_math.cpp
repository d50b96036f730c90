#include "analyze/efficiency/kernel_math.h"

#include <algorithm>
#include <array>

namespace fathom::analyze {
namespace {

constexpr std::array<std::string_view, 9> kOnVectorUnits = {"ffma",
                                                            "simt",
                                                            "sgemm",
                                                            "scudnn",
                                                            "convolve_sgemm",
                                                            "dgrad_engine<float",
                                                            "wgrad_alg0_engine<float",
                                                            "gemv",
                                                            "dgemm"};
constexpr std::array<std::string_view, 15> kOnTensorCores = {
    "tensorop", "s1688",    "s16816", "s161616",  "884",      "hmma", "wgmma", "tf32",
    "nvjet",    "bf16bf16", "f16f16", "_MI16x16", "_MI32x32", "mfma", "flash"};
constexpr std::array<std::string_view, 4> kSixteenBits = {"bf16", "f16", "h1688", "half"};

template <typename Words>
bool has_one_of(std::string_view name, const Words& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return name.find(word) != name.npos; });
}

bool is_tf32(std::string_view kernel) {
  if (kernel.find("tf32") != kernel.npos) return true;
  return kernel.find("s1688") != kernel.npos && !has_one_of(kernel, kSixteenBits);
}

}  // namespace

bool is_matrix_class(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention || kernel_class == KernelClass::moe;
}

std::optional<bool> on_tensor_cores(std::string_view kernel) {
  if (has_one_of(kernel, kOnTensorCores)) return true;
  if (has_one_of(kernel, kOnVectorUnits)) return false;
  return std::nullopt;
}

std::optional<Arithmetic> arithmetic_of(const OpWork& work, std::string_view kernel) {
  if (!work.is_float) return std::nullopt;
  switch (work.element_bytes) {
    case 1:
      return Arithmetic::fp8;
    case 2:
      return Arithmetic::fp16;
    case 4:
      return is_tf32(kernel) ? Arithmetic::tf32 : Arithmetic::fp32;
    default:
      return std::nullopt;
  }
}

}  // namespace fathom::analyze
