#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Chains of three and more kernels of PyTorch that do little for each element (pointwise,
//          reductions, norms, copies that change the layout), one after the other on a stream, take
//          10 % of the run. Each reads what the one before it wrote. Not what is compiled already,
//          what `attention` is about, nor kernels of the optimizer.
// Edit     1/2, 1/3 and 1/5 of their time stays, on the GPU and in their operations on the host.
namespace fathom::advise {
namespace {

constexpr double kPointwiseTriggerPct = 10;
constexpr std::size_t kShortestChain = 3;

bool is_light(analyze::KernelClass kernel_class) {
  using analyze::KernelClass;
  return kernel_class == KernelClass::elementwise || kernel_class == KernelClass::layout ||
         kernel_class == KernelClass::reduce || kernel_class == KernelClass::norm ||
         kernel_class == KernelClass::softmax;
}

struct PointwiseChains {
  std::vector<std::uint32_t> rows;
  std::size_t chains = 0;
  std::int64_t ns = 0;
};

PointwiseChains pointwise_chains(const Facts& facts) {
  const std::vector<bool> of_pytorch = names_that(
      facts.trace, [](std::string_view name) { return base::contains(name, "at::native::"); });
  const std::vector<bool> compiled = names_that(facts.trace, [](std::string_view name) {
    return base::contains(name, "CompiledFunction") || base::contains(name, "CompiledFxGraph");
  });
  const std::vector<bool> in_attention = in_written_attention(facts);
  const auto is_link = [&](std::size_t i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    return !in_attention[i] && row.type == WorkType::compute && is_light(row.kernel_class) &&
           of_pytorch[row.name] && innermost_around(facts.spans, row.launch, compiled) == kNoSpan;
  };
  PointwiseChains found;
  for (const analyze::GpuStream& stream : facts.on.gpu.streams) {
    const std::size_t end = stream.first + stream.count;
    for (std::size_t first = stream.first; first < end;) {
      std::size_t last = first;
      while (last < end && is_link(last)) ++last;
      if (last - first >= kShortestChain) {
        ++found.chains;
        for (std::size_t i = first; i < last; ++i) {
          found.rows.push_back(static_cast<std::uint32_t>(i));
          found.ns += facts.on.gpu.rows[i].duration_ns();
        }
      }
      first = last + 1;
    }
  }
  return found;
}

}  // namespace

Candidates rule_pointwise(const Facts& facts) {
  if (facts.platform.server != Server::none) return {};  // they have options of their own
  const PointwiseChains seen = pointwise_chains(facts);
  const auto gpus =
      static_cast<std::int64_t>(std::max<std::size_t>(1, facts.on.gpu.devices.size()));
  if (facts.share(seen.ns / gpus) < kPointwiseTriggerPct) return {};
  Candidate found = found_by("pointwise", SuggestionType::algorithm, seen.ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Fuse chains of pointwise kernels: compile the model";
  found.words.description = fmt::format(
      "{} that do little for each element, in {} of three or more, take {} ({} of all GPU time): "
      "each reads its inputs from memory and writes its result back.",
      base::format_plural(seen.rows.size(), "kernel", "kernels"),
      base::format_plural(seen.chains, "chain", "chains"), base::format_duration(seen.ns),
      base::format_percent(static_cast<double>(seen.ns) * 100 /
                           static_cast<double>(facts.work_ns)));
  found.supposes = "if fused kernels take a third of the time";
  found.words.implementation_hint =
      "Pointwise operations, norms and reductions around a product become one kernel.\n"
      "model = torch.compile(model)";
  found.edit = [&facts, rows = seen.rows](Edits& edits, Effort effort) {
    const double left = pick(effort, 0.5, 1 / 3.0, 0.2);
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, left);
      const SpanId operation = operator_around(facts.spans, facts.on.gpu.rows[row].launch);
      if (operation != kNoSpan) scale_host(edits, facts.plan, operation, left);
    }
  };
  return {found};
}

}  // namespace fathom::advise
