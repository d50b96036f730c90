#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Code that torch.compile captured as graphs copies tensors on the GPU before it replays
//          them, or clones what they give: copies from device to device within a compiled function
//          take 1 % of the run. Not without a graph: then they are a part of the model.
// Edit     Half of the copies go, with their calls; all; all.
namespace fathom::advise {
namespace {

constexpr double kGraphInputsTriggerPct = 1;

bool is_compiled_function(std::string_view name) {
  return name.starts_with("CompiledFunction") || base::contains(name, "CompiledFxGraph");
}

// By span: it is a compiled function, or part of one.
std::vector<bool> in_compiled_functions(const Facts& facts) {
  std::vector<bool> names(facts.trace.names.size());
  for (trace::NameId id = 0; id < names.size(); ++id) {
    names[id] = is_compiled_function(facts.trace.names.view(id));
  }
  std::vector<bool> found(facts.spans.size());
  for (SpanId id = 0; id < facts.spans.size(); ++id) {  // what is around a span comes before it
    const SpanId parent = facts.spans.parent[id];
    found[id] = names[facts.spans.name[id]] || (parent != kNoSpan && found[parent]);
  }
  return found;
}

}  // namespace

Candidates rule_graph_inputs(const Facts& facts) {
  if (!facts.platform.is_pytorch) return {};
  const std::vector<bool> is_compiled = in_compiled_functions(facts);
  std::vector<std::uint32_t> copies;
  std::int64_t total = 0;
  bool replays_a_graph = false;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.launch == kNoSpan || !is_compiled[row.launch]) continue;
    const bool is_of_graph = base::contains(facts.trace.name(row.launch), "GraphLaunch");
    replays_a_graph |= is_of_graph;
    const bool is_copy =
        row.type == WorkType::memory && base::contains(facts.trace.names.view(row.name), "DtoD");
    if (!is_copy || is_of_graph) continue;
    copies.push_back(i);
    total += row.duration_ns();
  }
  if (!replays_a_graph || facts.share(total) < kGraphInputsTriggerPct) return {};
  Candidate found = found_by("graph_inputs", SuggestionType::caching, total);
  show_work(found.words, facts, copies);
  found.words.operation =
      facts.trace.name(facts.caller_of(facts.on.gpu.rows[copies.front()].launch));
  found.words.title = "Give captured graphs inputs that stay in place";
  found.words.description = fmt::format(
      "{} on the GPU inside compiled functions take {} ({} of the run): inputs are copied to where "
      "their graph expects them, and outputs are cloned.",
      base::format_plural(copies.size(), "copy", "copies"),
      base::format_duration(static_cast<double>(total)), base::format_percent(facts.share(total)));
  found.supposes = "if none of them is needed";
  found.words.implementation_hint =
      "Fill the same tensors again for each step instead of making new ones, and mark them. "
      "Parameters stay in place if nothing assigns new tensors to them.\n"
      "torch._dynamo.mark_static_address(static_input)  # once\n"
      "static_input.copy_(batch, non_blocking=True)  # each step";
  found.edit = [&facts, copies](Edits& edits, Effort effort) {
    for (std::size_t i = 0; i < copies.size(); i += pick<std::size_t>(effort, 2, 1, 1)) {
      scale_work(edits, facts.plan, copies[i], 0);
      scale_lag(edits, facts.plan, copies[i], 0);
      scale_host(edits, facts.plan, facts.on.gpu.rows[copies[i]].launch, 0);
    }
  };
  return {found};
}

}  // namespace fathom::advise
