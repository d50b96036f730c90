#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"
#include "trace/framework_names.h"

// Trigger  Operations of the forward pass run inside the backward pass (checkpointing) and take 3 %
//          of the run on the GPU; not where memory is known to be more than 70 % full, for then
//          recomputing is what makes the run possible.
// Edit     Half / all / all of that time goes.
namespace fathom::advise {
namespace {

constexpr double kRecomputeTriggerPct = 3;
constexpr double kMuchMemory = 0.7;

// Functions that users and modules call: formulas of backward passes call what is below them.
constexpr std::array<std::string_view, 16> kForwardOnly = {
    "aten::conv1d",     "aten::conv2d",     "aten::conv3d",
    "aten::linear",     "aten::layer_norm", "aten::batch_norm",
    "aten::group_norm", "aten::rms_norm",   "aten::scaled_dot_product_attention",
    "aten::softmax",    "aten::dropout",    "aten::embedding",
    "aten::gelu",       "aten::silu",       "aten::relu",
    "aten::relu_"};

struct Recomputed {
  std::vector<std::uint32_t> rows;
  std::int64_t gpu_ns = 0;
  std::int64_t compute_ns = 0;  // of all compute
};

std::vector<bool> names_of_nodes(const trace::Trace& trace) {
  return names_that(trace,
                    [](std::string_view name) { return name.starts_with(trace::kBackwardNode); });
}

// Nodes of the backward pass with an operation of the forward pass in them, by span.
std::unordered_map<SpanId, bool> nodes_that_recompute(const Facts& facts,
                                                      const std::vector<bool>& nodes) {
  const std::vector<bool> forward = names_that(facts.trace, [](std::string_view name) {
    return std::find(kForwardOnly.begin(), kForwardOnly.end(), name) != kForwardOnly.end();
  });
  std::unordered_map<SpanId, bool> found;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (!forward[facts.spans.name[id]]) continue;
    const SpanId node = innermost_around(facts.spans, id, nodes);
    if (node != kNoSpan) found[node] = true;
  }
  return found;
}

// A node computes its own gradients too: "aten::threshold_backward".
bool is_of_backward(const Facts& facts, SpanId operation, const std::vector<bool>& backward) {
  return operation == kNoSpan || backward[facts.spans.name[operation]];
}

Recomputed recomputed_work(const Facts& facts) {
  Recomputed found;
  const std::vector<bool> nodes = names_of_nodes(facts.trace);
  const auto recompute = nodes_that_recompute(facts, nodes);
  if (recompute.empty()) return found;
  const std::vector<bool> backward = names_that(facts.trace, [](std::string_view name) {
    return base::contains(name, "_backward") || base::contains(name, "AccumulateGrad");
  });
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::compute) continue;
    found.compute_ns += row.duration_ns();
    const SpanId node = innermost_around(facts.spans, row.launch, nodes);
    if (node == kNoSpan || !recompute.contains(node)) continue;
    if (is_of_backward(facts, operator_around(facts.spans, row.launch), backward)) continue;
    found.rows.push_back(i);
    found.gpu_ns += row.duration_ns();
  }
  return found;
}

bool is_short_of_memory(const trace::Trace& trace) {
  for (const trace::DeviceInfo& device : trace.run.devices) {
    if (!device.memory_bytes) continue;
    for (const trace::MemoryEvent& event : trace.memory) {
      const bool is_its = event.device == trace::MemoryDevice::gpu &&
                          (event.device_index < 0 || event.device_index == device.id);
      if (is_its && event.total_allocated &&
          static_cast<double>(*event.total_allocated) >
              kMuchMemory * static_cast<double>(*device.memory_bytes)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Candidates rule_recompute(const Facts& facts) {
  const Recomputed seen = recomputed_work(facts);
  if (facts.share(seen.gpu_ns) < kRecomputeTriggerPct || is_short_of_memory(facts.trace)) return {};
  Candidate found = found_by("recompute", SuggestionType::algorithm, seen.gpu_ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Recompute less in the backward pass";
  found.words.description = fmt::format(
      "{} of the forward pass run again inside the backward pass (activation checkpointing): {}, "
      "{} of all compute.",
      base::format_plural(seen.rows.size(), "kernel", "kernels"),
      base::format_duration(seen.gpu_ns),
      base::format_percent(static_cast<double>(seen.gpu_ns) * 100 /
                           static_cast<double>(seen.compute_ns)));
  found.supposes = "if there is memory to keep the activations instead";
  found.words.implementation_hint =
      "Checkpoint only what takes much memory and little time, or nothing if it fits: "
      "torch.cuda.max_memory_allocated() tells how much is left.\n"
      "checkpoint(block, x, use_reentrant=False, context_fn=partial(\n"
      "    create_selective_checkpoint_contexts, [torch.ops.aten.mm.default, "
      "torch.ops.aten.convolution.default]))  # these are kept";
  found.edit = [&facts, rows = seen.rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.5, 0.0, 0.0));
    }
  };
  return {found};
}

}  // namespace fathom::advise
