#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  On an NVIDIA GPU that has tensor cores, matrix products and convolutions in FP32 that do
//          not use them, by their names, take over 5 % of the run.
// Edit     They take 1/1.5, 1/2 and 1/4 of the time.
namespace fathom::advise {
namespace {

using analyze::WorkRow;
using trace::SpanId;

constexpr double kTriggerPct = 5;

bool has_tensor_cores(const trace::Trace& trace) {
  constexpr std::array<std::string_view, 9> kNames = {"V100", "T4",   "A100", "A10", "A40",
                                                      "L4",   "H100", "H200", "B200"};
  return std::any_of(trace.run.devices.begin(), trace.run.devices.end(), [&](const auto& device) {
    return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
      return device.name.find(name) != std::string::npos;
    });
  });
}

// "volta_sgemm_128x64_nt", "…scudnn_128x32…", "cutlass_simt_sgemm"; not "s884", "tensorop", "tf32".
bool is_plain_fp32(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  for (const std::string_view part : {"tensorop", "884", "1688", "16816", "tf32", "hmma", "bf16"}) {
    if (has(part)) return false;
  }
  return has("sgemm") || has("scudnn") || has("simt_s") || has("dgrad_engine<float") ||
         has("wgrad_alg0_engine<float") || has("implicit_convolve_sgemm");
}

}  // namespace

Candidates rule_precision(const Facts& facts) {
  if (!has_tensor_cores(facts.trace)) return {};
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
  if (facts.share(total) < kTriggerPct) return {};
  Candidate found;
  found.concerns_ns = total;
  found.words.rule = "precision";
  found.words.type = SuggestionType::algorithm;
  show(found.words, facts.trace, std::move(spans));
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Use the tensor cores: FP32 kernels leave them idle";
  found.words.description = fmt::format(
      "{} of matrix products and convolutions in plain FP32 take {} ({} of the run).",
      base::format_plural(rows.size(), "kernel", "kernels"),
      base::format_duration(static_cast<double>(total)), base::format_percent(facts.share(total)));
  found.supposes = "if they ran twice as fast";
  found.words.implementation_hint =
      "Mixed precision, or TF32 from Ampere on. Check that the results still hold.\n"
      "torch.set_float32_matmul_precision(\"high\")        # TF32, Ampere and later\n"
      "with torch.autocast(\"cuda\", dtype=torch.float16): loss = model(batch)";
  found.edit = [&facts, rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 1 / 1.5, 0.5, 0.25));
    }
  };
  return {found};
}

}  // namespace fathom::advise
