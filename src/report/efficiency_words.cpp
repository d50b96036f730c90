#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "report/efficiency_report.h"

namespace fathom::report {
namespace {

using analyze::ClassUse;
using analyze::Efficiency;
using analyze::KernelClass;
using analyze::WorkRate;

constexpr double kNearlyAllPct = 99;
constexpr double kLargeClassPct = 10;  // of the GPU's time

std::string mfu_sentence(const Efficiency& used, double mfu_pct) {
  const double known = used.known_matrix_pct().value_or(0);
  constexpr double kLeastShownPct = 0.05;
  if (mfu_pct < kLeastShownPct) return "Model FLOP utilization (MFU) was below 0.1 %.";
  const std::string share = base::format_percent(mfu_pct);
  if (known >= kNearlyAllPct) return fmt::format("Model FLOP utilization (MFU) was {}.", share);
  return fmt::format(
      "Model FLOP utilization (MFU) was at least {}; the FLOP of {} of the matrix work are known.",
      share, base::format_percent(known));
}

// AMD calls its units matrix cores. Names of some kernels tell nothing.
std::string tensor_core_sentence(const Efficiency& used, double share_pct) {
  const double told = static_cast<double>(used.told_matrix_ns) * 100 /
                      static_cast<double>(std::max<std::int64_t>(1, used.matrix_ns));
  const char* const units = used.device_name.starts_with("AMD") ? "matrix cores" : "tensor cores";
  if (told >= kNearlyAllPct) {
    return fmt::format("{} of the matrix work ran on {}, going by kernel names.",
                       base::format_percent(share_pct), units);
  }
  return fmt::format("{} of the matrix work whose kernel names tell ({} of it) ran on {}.",
                     base::format_percent(share_pct), base::format_percent(told), units);
}

// "61.9 % of the peak", "38.1 % of the memory bandwidth"; without a peak, what was achieved. What
// runs off the tensor cores is measured by a peak of its own, far below theirs.
std::string rate_words(const ClassUse& use) {
  const WorkRate& rate = *use.rate();
  const auto share = rate.efficiency_pct();
  if (!share) return achieved_text(&rate);
  const std::string text = base::format_percent(*share);
  if (rate.is_memory_bound()) return text + " of the memory bandwidth";
  const bool is_plain = 2 * use.fp32_ns > rate.time_ns;
  return text + (is_plain ? " of the FP32 peak, without tensor cores" : " of the peak");
}

bool is_good_gemm(const Efficiency& used) {
  const ClassUse& gemm = used.of(KernelClass::gemm);
  const WorkRate* rate = gemm.rate();
  if (rate == nullptr || rate->is_memory_bound() || 10 * gemm.fp32_ns > rate->time_ns) return false;
  return rate->efficiency_pct().value_or(0) >= analyze::good_gemm_pct(used.device_name);
}

// What records shapes, as the one that profiles is told.
std::string_view shapes_option(const Efficiency& used) {
  switch (used.server) {
    case analyze::Server::vllm:
      return "--profiler-config.torch_profiler_record_shapes=true";
    case analyze::Server::sglang:
      return "\"record_shapes\": true in the request to /start_profile";
    case analyze::Server::none:
      break;
  }
  return "record_shapes=True";
}

}  // namespace

std::string class_use_text(const Efficiency& used, KernelClass kernel_class) {
  if (used.of(kernel_class).rate() != nullptr) {
    const bool is_good = kernel_class == KernelClass::gemm && is_good_gemm(used);
    return ", at " + rate_words(used.of(kernel_class)) + (is_good ? ", which is good" : "");
  }
  const ClassUse& use = used.of(kernel_class);
  if (2 * use.graph_ns > use.time_ns) {
    return "; how efficient it is cannot be told: captured graphs record no shapes";
  }
  if (used.has_shapes) {
    return "; how efficient it is cannot be told: most of its work does not follow from recorded "
           "shapes";
  }
  if (!used.could_have_shapes) return {};
  return fmt::format("; to see how efficient it is, record shapes ({})", shapes_option(used));
}

std::string good_gemm_text(const Efficiency& used) {
  std::int64_t all_ns = 0;
  for (const ClassUse& one : used.by_class) all_ns += one.time_ns;
  const ClassUse& gemm = used.of(KernelClass::gemm);
  if (all_ns <= 0 || !is_good_gemm(used)) return {};
  const double share = static_cast<double>(gemm.time_ns) / static_cast<double>(all_ns) * 100;
  if (share < kLargeClassPct) return {};
  return fmt::format("GEMM ({}) is fine, at {}.", base::format_percent(share), rate_words(gemm));
}

std::vector<std::string> efficiency_sentences(const Efficiency& used) {
  std::vector<std::string> text;
  if (const auto mfu = used.mfu_pct()) text.push_back(mfu_sentence(used, *mfu));
  if (const auto share = used.tensor_core_pct()) {
    text.push_back(tensor_core_sentence(used, *share));
  }
  if (used.could_have_shapes && !used.has_shapes) {
    const std::string_view option = shapes_option(used);
    text.push_back(fmt::format(
        "How well the kernels used the GPU is unknown, because the trace has no shapes. To record "
        "them: {}",
        used.server == analyze::Server::none ? fmt::format("torch.profiler.profile({})", option)
                                             : std::string(option)));
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
