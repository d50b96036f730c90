#pragma once

#include <optional>
#include <string_view>

#include "analyze/classes/kernel_class.h"
#include "analyze/efficiency/op_work.h"
#include "analyze/efficiency/peaks.h"

namespace fathom::analyze {

// Matrix work, which tensor cores (AMD's matrix cores) are for.
bool is_matrix_class(KernelClass kernel_class);

// Whether a kernel of matrix work runs on tensor cores, by the marks of NVIDIA's and AMD's
// libraries in its name ("tensorop", "s16816gemm", "nvjet", "_MI16x16x", against "ffma", "sgemm",
// "scudnn"); absent where the name does not tell.
std::optional<bool> on_tensor_cores(std::string_view kernel);

// Whether a kernel of matrix work computes in TF32: "cutlass_80_tensorop_s1688gemm_…" without a
// narrower type in its name.
bool is_tf32(std::string_view kernel);

// Whether it works on FP32 without tensor cores: "volta_sgemm_128x64_nt", "…scudnn_128x32…",
// "…f32f32_f32f32_f32…_ffma_…", "…engine<float, 512…".
bool is_plain_fp32(std::string_view kernel);

// Whether its operands are FP16 or BF16, by the marks of these in its name.
bool is_of_16_bits(std::string_view kernel);

// What a product with operands of so many bytes computes in. Of 4-byte floats the kernel tells:
// "s1688gemm" is TF32 unless a 16-bit type stands beside it. Nothing for doubles and integers.
std::optional<Arithmetic> arithmetic_of(const OpWork& work, std::string_view kernel);

}  // namespace fathom::analyze
