#include <fmt/format.h>

#include <algorithm>

#include "advise/floor.h"
#include "advise/rules.h"
#include "analyze/efficiency/kernel_math.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  On an NVIDIA GPU that has tensor cores, matrix products and convolutions in FP32 that do
//          not use them, by their names, take over 5 % of the run. Since Ampere, products alone:
//          cuDNN uses TF32 by default. Nor where other products of the run use TF32: it is allowed
//          then, and the library chose not to.
// Edit     They take 1/1.5, 1/2 and 1/4 of the time, but no less than their operations need at the
//          peaks of the tensor cores and of memory, where shapes tell.
namespace fathom::advise {
namespace {

constexpr double kPrecisionTriggerPct = 5;
constexpr double kFewTf32 = 0.1;  // of the time in plain FP32

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
         .jax = "\njax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")",
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

// Kernels of matrix products, and before Ampere of convolutions, in plain FP32.
struct PlainProducts {
  std::vector<std::uint32_t> rows;
  std::int64_t ns = 0;
  bool any_convolution = false;
};

// Empty where there is nothing to say about them.
PlainProducts plain_products(const Facts& facts) {
  PlainProducts found;
  if (facts.platform.tensor_cores == TensorCores::none_known) return found;
  const bool has_tf32 = facts.platform.tensor_cores == TensorCores::with_tf32;
  const std::vector<bool> plain = names_that(facts.trace, [](std::string_view name) {
    return analyze::is_plain_fp32(name) && is_arithmetic(name);
  });
  const std::vector<bool> tf32 = names_that(facts.trace, analyze::is_tf32);
  std::int64_t tf32_ns = 0;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    const bool is_product = row.kernel_class == analyze::KernelClass::gemm;
    const bool is_convolution = row.kernel_class == analyze::KernelClass::convolution;
    if (is_product && tf32[row.name]) tf32_ns += row.duration_ns();
    if (!plain[row.name] || !(is_product || (is_convolution && !has_tf32))) continue;
    found.any_convolution |= is_convolution;
    found.rows.push_back(i);
    found.ns += row.duration_ns();
  }
  if (static_cast<double>(tf32_ns) > kFewTf32 * static_cast<double>(found.ns)) return {};
  if (facts.share(found.ns) < kPrecisionTriggerPct) return {};
  return found;
}

// By row, the part of its time that its operation needs even on tensor cores; 0 where not known.
std::vector<double> least_parts(const Facts& facts, const std::vector<std::uint32_t>& rows) {
  const bool has_tf32 = facts.platform.tensor_cores == TensorCores::with_tf32;
  const auto in = has_tf32 ? analyze::Arithmetic::tf32 : analyze::Arithmetic::fp16;
  Floors floors(facts);
  std::vector<double> parts;
  for (const std::uint32_t row : rows) {
    const WorkRow& work = facts.on.gpu.rows[row];
    const std::optional<Floor> floor = floors.of(work, in);
    const bool is_known = floor && work.duration_ns() > 0;
    parts.push_back(is_known ? std::min(1.0, floor->ns() / static_cast<double>(work.duration_ns()))
                             : 0);
  }
  return parts;
}

}  // namespace

bool wants_tensor_cores(const Facts& facts, trace::NameId kernel) {
  const PlainProducts plain = plain_products(facts);
  return std::any_of(plain.rows.begin(), plain.rows.end(),
                     [&](std::uint32_t row) { return facts.on.gpu.rows[row].name == kernel; });
}

Candidates rule_precision(const Facts& facts) {
  const PlainProducts seen = plain_products(facts);
  if (seen.rows.empty()) return {};
  Candidate found = found_by("precision", SuggestionType::algorithm, seen.ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Use the tensor cores: FP32 kernels leave them idle";
  found.words.description =
      fmt::format("{} of {} in plain FP32 take {} ({} of the run).",
                  base::format_plural(seen.rows.size(), "kernel", "kernels"),
                  seen.any_convolution ? "matrix products and convolutions" : "matrix products",
                  base::format_duration(static_cast<double>(seen.ns)),
                  base::format_percent(facts.share(seen.ns)));
  found.supposes = "if they run twice as fast";
  found.words.implementation_hint = precision_hint(facts.platform);
  found.edit = [&facts, rows = seen.rows, least = least_parts(facts, seen.rows)](Edits& edits,
                                                                                 Effort effort) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double part = std::max(pick(effort, 1 / 1.5, 0.5, 0.25), least[i]);
      scale_work(edits, facts.plan, rows[i], part);
    }
  };
  return {found};
}

}  // namespace fathom::advise
