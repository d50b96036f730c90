#include "advise/floor.h"

#include "analyze/efficiency/kernel_math.h"
#include "analyze/efficiency/op_args.h"
#include "analyze/efficiency/op_work.h"
#include "analyze/operations/named_spans.h"

namespace fathom::advise {

namespace {

constexpr double kFlopPerNs = 1e3;  // of a TFLOP/s

}  // namespace

std::optional<Floor> Floors::of(const analyze::WorkRow& row,
                                std::optional<analyze::Arithmetic> in) {
  if (!facts_.peaks.memory_gb_s) return std::nullopt;
  const trace::SpanId operation = analyze::operator_around(facts_.spans, row.launch);
  if (operation == trace::kNoSpan || facts_.spans.shape[operation] == 0) return std::nullopt;
  const Key key = {facts_.spans.name[operation], facts_.spans.shape[operation], row.name};
  const auto [at, is_new] = known_.try_emplace({key, in});
  if (is_new) at->second = work_out(operation, row, in);
  return at->second;
}

std::optional<Floor> Floors::work_out(trace::SpanId operation, const analyze::WorkRow& row,
                                      std::optional<analyze::Arithmetic> in) const {
  const auto work = analyze::op_work(facts_.trace.name(operation),
                                     analyze::op_inputs(facts_.trace.args(operation)));
  if (!work || (in && !work->is_matrix)) return std::nullopt;
  if (!work->is_matrix) {
    const double flop_per_ns = facts_.peaks.fp32_tflops.value_or(0) * kFlopPerNs;
    return Floor{work->bytes / *facts_.peaks.memory_gb_s,
                 flop_per_ns > 0 ? work->flop / flop_per_ns : 0};
  }
  if (!in) in = analyze::arithmetic_of(*work, facts_.trace.names.view(row.name));
  const auto tflops = in ? facts_.peaks.tflops(*in) : std::nullopt;
  if (!tflops) return std::nullopt;
  return Floor{work->bytes / *facts_.peaks.memory_gb_s, work->flop / (*tflops * kFlopPerNs)};
}

}  // namespace fathom::advise
