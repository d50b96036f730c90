#include <fmt/format.h>

#include <algorithm>

#include "advise/named_spans.h"
#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  On an NVIDIA GPU that has tensor cores, matrix products and convolutions in FP32 that do
//          not use them, by their names, take over 5 % of the run. Since Ampere, products alone:
//          cuDNN uses TF32 by default. Nor where other products of the run use TF32: it is allowed
//          then, and the library chose not to.
// Edit     They take 1/1.5, 1/2 and 1/4 of the time.
namespace fathom::advise {
namespace {

constexpr double kPrecisionTriggerPct = 5;
constexpr double kFewTf32 = 0.1;  // of the time in plain FP32

bool uses_tensor_cores(std::string_view name) {
  for (const std::string_view part :
       {"tensorop", "884", "1688", "16816", "tf32", "hmma", "bf16", "xmma_gemm_f16", "wgmma"}) {
    if (base::contains(name, part)) return true;
  }
  return false;
}

// "volta_sgemm_128x64_nt", "…scudnn_128x32…", "…f32f32_f32f32_f32…_ffma_…", "…engine<float, 512…".
bool is_plain_fp32(std::string_view name) {
  if (uses_tensor_cores(name)) return false;
  for (const std::string_view part : {"sgemm", "scudnn", "simt_s", "_ffma_", "<float", "gemv2"}) {
    if (base::contains(name, part)) return true;
  }
  return false;
}

// "cutlass_80_tensorop_s1688gemm_…" without a narrower type in its name.
bool is_tf32(std::string_view name) {
  if (base::contains(name, "tf32")) return true;
  return base::contains(name, "s1688") && !base::contains(name, "bf16") &&
         !base::contains(name, "f16");
}

// Turning tensors around for a convolution is not arithmetic (rule_layout.cpp).
bool is_arithmetic(std::string_view name) {
  return !base::contains(name, "ToNhwc") && !base::contains(name, "ToNchw");
}

// TF32 came with Ampere, and so did bfloat16.
std::string precision_hint(const Platform& platform) {
  if (platform.tensor_cores == TensorCores::with_tf32) {
    return hint_for(
        platform,
        {.words = "TF32, which leaves the data unchanged, or mixed precision. Check that the "
                  "results are still good.",
         .pytorch = "\ntorch.set_float32_matmul_precision(\"high\")  # TF32\n"
                    "with torch.autocast(\"cuda\", dtype=torch.bfloat16): output = model(batch)",
         .cuda = "\ncublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);"});
  }
  return hint_for(
      platform,
      {.words =
           "Mixed precision: inputs in FP16, sums in FP32. Check that the results are still good.",
       .pytorch = " Training also needs a GradScaler.\n"
                  "with torch.autocast(\"cuda\", dtype=torch.float16): output = model(batch)",
       .cuda = "\ncublasGemmEx(handle, …, CUDA_R_16F, …, CUBLAS_COMPUTE_32F, …);"});
}

}  // namespace

Candidates rule_precision(const Facts& facts) {
  if (facts.platform.tensor_cores == TensorCores::none_known) return {};
  const bool has_tf32 = facts.platform.tensor_cores == TensorCores::with_tf32;
  const std::vector<bool> plain = names_that(facts.trace, [](std::string_view name) {
    return is_plain_fp32(name) && is_arithmetic(name);
  });
  const std::vector<bool> tf32 = names_that(facts.trace, is_tf32);
  std::vector<std::uint32_t> rows;
  std::vector<SpanId> spans;
  std::int64_t total = 0;
  std::int64_t tf32_ns = 0;
  bool any_convolution = false;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    const bool is_product = row.kernel_class == analyze::KernelClass::gemm;
    const bool is_convolution = row.kernel_class == analyze::KernelClass::convolution;
    if (is_product && tf32[row.name]) tf32_ns += row.duration_ns();
    if (!plain[row.name] || !(is_product || (is_convolution && !has_tf32))) continue;
    any_convolution |= is_convolution;
    rows.push_back(i);
    spans.push_back(row.span);
    total += row.duration_ns();
  }
  if (static_cast<double>(tf32_ns) > kFewTf32 * static_cast<double>(total)) return {};
  if (facts.share(total) < kPrecisionTriggerPct) return {};
  Candidate found = found_by("precision", SuggestionType::algorithm, total);
  show(found.words, facts.trace, std::move(spans));
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Use the tensor cores: FP32 kernels leave them idle";
  found.words.description = fmt::format(
      "{} of {} in plain FP32 take {} ({} of the run).",
      base::format_plural(rows.size(), "kernel", "kernels"),
      any_convolution ? "matrix products and convolutions" : "matrix products",
      base::format_duration(static_cast<double>(total)), base::format_percent(facts.share(total)));
  found.supposes = "if they run twice as fast";
  found.words.implementation_hint = precision_hint(facts.platform);
  found.edit = [&facts, rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 1 / 1.5, 0.5, 0.25));
    }
  };
  return {found};
}

}  // namespace fathom::advise
