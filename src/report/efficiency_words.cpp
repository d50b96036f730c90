#include <fmt/format.h>

#include "base/format.h"
#include "report/efficiency_report.h"

namespace fathom::report {
namespace {

using analyze::Efficiency;

constexpr double kNearlyAllPct = 99;

std::string mfu_sentence(const Efficiency& used, double mfu_pct) {
  const double known = used.known_matrix_pct().value_or(0);
  const std::string share = base::format_percent(mfu_pct);
  if (known >= kNearlyAllPct) return fmt::format("Model FLOP utilization (MFU) was {}.", share);
  return fmt::format(
      "Model FLOP utilization (MFU) was at least {}; the FLOP of {} of the matrix work are known.",
      share, base::format_percent(known));
}

}  // namespace

std::vector<std::string> efficiency_sentences(const Efficiency& used) {
  std::vector<std::string> text;
  if (const auto mfu = used.mfu_pct()) text.push_back(mfu_sentence(used, *mfu));
  if (const auto share = used.tensor_core_pct()) {
    text.push_back(fmt::format("{} of the matrix work ran on tensor cores, going by kernel names.",
                               base::format_percent(*share)));
  }
  if (used.could_have_shapes && !used.has_shapes) {
    text.emplace_back(
        "How well the kernels used the GPU is unknown, because the trace has no shapes. To record "
        "them: torch.profiler.profile(record_shapes=True)");
  }
  if (used.has_shapes && !used.peaks.any()) {
    text.push_back(
        fmt::format("The peaks of {} are unknown. To give them, in TFLOP/s and GB/s: "
                    "--peak fp32=19.5,tf32=156,fp16=312,gbps=1555",
                    used.device_name.empty() ? "this GPU" : "the " + used.device_name));
  }
  return text;
}

}  // namespace fathom::report
