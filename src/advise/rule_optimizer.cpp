#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"
#include "trace/framework_names.h"

// Trigger  Over 50 kernels per step of an optimizer of PyTorch, none of them one for many tensors,
//          take 3 % of the run on the GPU, or their steps do on the host.
// Edit     The kernels take 1/2, 1/3 and 1/5 of the time, for a fused one reads and writes
//          parameters, gradients and state once; the host takes 1/2, 1/10 and 1/20.
namespace fathom::advise {
namespace {

constexpr std::size_t kManyUpdateKernels = 50;
constexpr double kOptimizerTriggerPct = 3;

struct OptimizerSteps {
  std::map<SpanId, std::size_t> kernels;  // by step
  std::vector<std::uint32_t> rows;
  std::int64_t gpu_ns = 0;
  std::int64_t host_ns = 0;
  bool is_fused = false;
};

OptimizerSteps optimizer_steps(const Facts& facts) {
  const std::vector<bool> steps = names_that(
      facts.trace, [](std::string_view name) { return name.starts_with(trace::kOptimizerStep); });
  const std::vector<bool> fused = names_that(facts.trace, [](std::string_view name) {
    return base::contains(name, "multi_tensor") || base::contains(name, "MultiTensor") ||
           base::contains(name, "fused_adam") || base::contains(name, "fused_sgd");
  });
  OptimizerSteps found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    const SpanId step = outermost_around(facts.spans, row.launch, steps);
    if (step == kNoSpan || row.type == WorkType::communication) continue;
    found.is_fused |= fused[row.name];
    ++found.kernels[step];
    found.rows.push_back(i);
    found.gpu_ns += row.duration_ns();
  }
  for (const auto& [step, kernels] : found.kernels) found.host_ns += facts.spans.duration_ns[step];
  return found;
}

// Fused on the GPU are Adam, AdamW and SGD; "foreach" has one kernel for many tensors.
std::string optimizer_hint(const Platform& platform) {
  constexpr std::array<std::string_view, 3> kFused = {"Adam", "AdamW", "SGD"};
  constexpr std::array<std::string_view, 9> kForeach = {
      "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "Adafactor"};
  const auto has = [&](const auto& names) {
    return std::find(names.begin(), names.end(), platform.optimizer) != names.end();
  };
  const std::string words = "One kernel for many parameters instead of several for each.";
  if (has(kFused)) {
    return fmt::format("{}\noptimizer = torch.optim.{}(parameters, lr, fused=True)", words,
                       platform.optimizer);
  }
  if (has(kForeach)) {
    return fmt::format("{}\noptimizer = torch.optim.{}(parameters, lr, foreach=True)", words,
                       platform.optimizer);
  }
  return words +
         " An optimizer of your own can use torch._foreach_add_ and its relatives, which "
         "take lists of tensors.";
}

}  // namespace

Candidates rule_optimizer(const Facts& facts) {
  const OptimizerSteps seen = optimizer_steps(facts);
  if (seen.is_fused || seen.rows.size() <= kManyUpdateKernels * seen.kernels.size()) return {};
  if (facts.share(std::max(seen.gpu_ns, seen.host_ns)) < kOptimizerTriggerPct) return {};
  Candidate found = found_by("optimizer", SuggestionType::batching, seen.gpu_ns + seen.host_ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(seen.kernels.begin()->first);
  found.words.title = "Use an optimizer that updates all parameters at once";
  found.words.description = fmt::format(
      "Each step of the optimizer{} launches {} kernels, parameter by parameter: {} on the GPU and "
      "{} on the host in {}.",
      facts.platform.optimizer.empty() ? "" : fmt::format(" ({})", facts.platform.optimizer),
      base::format_count(seen.rows.size() / seen.kernels.size()),
      base::format_duration(seen.gpu_ns), base::format_duration(seen.host_ns),
      base::format_plural(seen.kernels.size(), "step", "steps"));
  found.supposes = "if its kernels take a third of the time and the host a tenth";
  found.words.implementation_hint = optimizer_hint(facts.platform);
  found.edit = [&facts, seen](Edits& edits, Effort effort) {
    for (const std::uint32_t row : seen.rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.5, 1 / 3.0, 0.2));
    }
    for (const auto& [step, kernels] : seen.kernels) {
      scale_host(edits, facts.plan, step, pick(effort, 0.5, 0.1, 0.05));
    }
  };
  return {found};
}

}  // namespace fathom::advise
