#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  On an NVIDIA GPU that has tensor cores, matrix products and convolutions in FP32 that do
//          not use them, by their names, take over 5 % of the run.
// Edit     They take 1/1.5, 1/2 and 1/4 of the time.
namespace fathom::advise {
namespace {

constexpr double kPrecisionTriggerPct = 5;

// "volta_sgemm_128x64_nt", "…scudnn_128x32…", "cutlass_simt_sgemm"; not "s884", "tensorop", "tf32".
bool is_plain_fp32(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  for (const std::string_view part : {"tensorop", "884", "1688", "16816", "tf32", "hmma", "bf16"}) {
    if (has(part)) return false;
  }
  return has("sgemm") || has("scudnn") || has("simt_s") || has("dgrad_engine<float") ||
         has("wgrad_alg0_engine<float") || has("implicit_convolve_sgemm");
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
  std::vector<bool> plain(facts.trace.names.size());
  for (trace::NameId id = 0; id < plain.size(); ++id) {
    plain[id] = is_plain_fp32(facts.trace.names.view(id));
  }
  std::vector<std::uint32_t> rows;
  std::vector<SpanId> spans;
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != analyze::WorkType::compute || !plain[row.name]) continue;
    rows.push_back(i);
    spans.push_back(row.span);
    total += row.duration_ns();
  }
  if (facts.share(total) < kPrecisionTriggerPct) return {};
  Candidate found = found_by("precision", SuggestionType::algorithm, total);
  show(found.words, facts.trace, std::move(spans));
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Use the tensor cores: FP32 kernels leave them idle";
  found.words.description = fmt::format(
      "{} of matrix products and convolutions in plain FP32 take {} ({} of the run).",
      base::format_plural(rows.size(), "kernel", "kernels"),
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
