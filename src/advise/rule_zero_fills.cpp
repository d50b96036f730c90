#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Filling gradients with zeros inside zero_grad takes 1 % of the run, on the GPU or on the
//          host.
// Edit     The fills go, with what the host does for them. Gradients are set to None instead, which
//          takes next to nothing.
namespace fathom::advise {
namespace {

constexpr double kZeroFillsTriggerPct = 1;

bool clears_gradients(std::string_view name) {
  return name.starts_with("Optimizer.zero_grad") || name.ends_with(": zero_grad");
}

// The outermost range or function that clears gradients around a call.
SpanId clearing_around(const Facts& facts, SpanId call, const std::vector<bool>& clears) {
  SpanId found = kNoSpan;
  for (SpanId at = facts.spans.parent[call]; at != kNoSpan; at = facts.spans.parent[at]) {
    if (clears[facts.spans.name[at]]) found = at;
  }
  return found;
}

}  // namespace

Candidates rule_zero_fills(const Facts& facts) {
  if (!facts.platform.is_pytorch || !facts.platform.trains) return {};
  std::vector<bool> clears(facts.trace.names.size());
  for (trace::NameId id = 0; id < clears.size(); ++id) {
    clears[id] = clears_gradients(facts.trace.names.view(id));
  }
  if (std::find(clears.begin(), clears.end(), true) == clears.end()) return {};
  std::vector<std::uint32_t> fills;
  std::vector<SpanId> around;
  std::int64_t work = 0;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.launch == kNoSpan) continue;
    const SpanId clearing = clearing_around(facts, row.launch, clears);
    if (clearing == kNoSpan) continue;
    fills.push_back(i);
    around.push_back(clearing);
    work += row.duration_ns();
  }
  std::sort(around.begin(), around.end());
  around.erase(std::unique(around.begin(), around.end()), around.end());
  std::int64_t host = 0;
  for (const SpanId one : around) host += facts.spans.duration_ns[one];
  if (facts.share(std::max(work, host)) < kZeroFillsTriggerPct) return {};
  Candidate found = found_by("zero_fills", SuggestionType::algorithm, std::max(work, host));
  show(found.words, facts.trace, around);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Set gradients to None instead of filling them with zeros";
  found.words.description = fmt::format(
      "zero_grad launched {} to clear gradients: {} on the GPU, and {} on the host ({} of the "
      "run).",
      base::format_plural(fills.size(), "fill", "fills"),
      base::format_duration(static_cast<double>(work)),
      base::format_duration(static_cast<double>(host)), base::format_percent(facts.share(host)));
  found.supposes = "if there are no fills";
  found.words.implementation_hint =
      "It is what PyTorch does from 2.0 on, unless told otherwise.\n"
      "optimizer.zero_grad(set_to_none=True)";
  found.edit = [&facts, fills, around](Edits& edits, Effort) {
    for (const std::uint32_t row : fills) {
      scale_work(edits, facts.plan, row, 0);
      scale_lag(edits, facts.plan, row, 0);
    }
    for (const SpanId one : around) scale_host(edits, facts.plan, one, 0);
  };
  return {found};
}

}  // namespace fathom::advise
