#include "analyze/efficiency/kernel_math.h"

#include <algorithm>
#include <array>

#include "base/contains.h"

namespace fathom::analyze {
namespace {

// Marks of vector units; those of FP32 first.
constexpr std::array<std::string_view, 6> kFp32 = {"ffma",   "simt_s", "sgemm",
                                                   "scudnn", "gemv2",  "engine<float"};
constexpr std::array<std::string_view, 3> kOnVectorUnits = {"simt", "gemv", "dgemm"};
constexpr std::array<std::string_view, 16> kOnTensorCores = {
    "tensorop", "1688",   "16816",         "161616",   "884",      "hmma", "wgmma", "tf32",
    "bf16bf16", "f16f16", "xmma_gemm_f16", "_MI16x16", "_MI32x32", "mfma", "flash", "nvjet"};
constexpr std::array<std::string_view, 7> kSixteenBits = {"bf16", "f16",      "h1688",   "h16816",
                                                          "half", "bfloat16", "BFloat16"};

template <typename Words>
bool has_one_of(std::string_view name, const Words& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return base::contains(name, word); });
}

}  // namespace

bool is_matrix_class(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention || kernel_class == KernelClass::moe;
}

std::optional<bool> on_tensor_cores(std::string_view kernel) {
  if (has_one_of(kernel, kOnTensorCores)) return true;
  if (has_one_of(kernel, kFp32) || has_one_of(kernel, kOnVectorUnits)) return false;
  return std::nullopt;
}

bool is_of_16_bits(std::string_view kernel) {
  return has_one_of(kernel, kSixteenBits);
}

bool is_tf32(std::string_view kernel) {
  return base::contains(kernel, "tf32") ||
         (base::contains(kernel, "s1688") && !is_of_16_bits(kernel));
}

bool is_plain_fp32(std::string_view kernel) {
  if (on_tensor_cores(kernel) == true || is_of_16_bits(kernel)) return false;
  // A type alone does not say that it multiplies: that is what is_matrix_class is for.
  return has_one_of(kernel, kFp32) || base::contains(kernel, "<float");
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
