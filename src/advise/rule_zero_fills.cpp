#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Filling gradients with zeros inside zero_grad takes 3 % of the run, on the GPU or on the
//          host. `launch` leaves that time to this rule.
// Edit     The fills go, with what the host does for them. Gradients are set to None instead, which
//          takes next to nothing.
namespace fathom::advise {

Candidates rule_zero_fills(const Facts& facts) {
  const ZeroFills& fills = facts.zero_fills;
  const std::int64_t concerns = std::max(fills.work_ns, fills.host_ns);
  if (!facts.fills_with_zeros_for_long()) return {};
  Candidate found = found_by("zero_fills", SuggestionType::algorithm, concerns);
  found.comes_first = true;
  show(found.words, facts.trace, fills.around);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Set gradients to None instead of filling them with zeros";
  found.words.description = fmt::format(
      "zero_grad launched {} to clear gradients: {} on the GPU, and {} on the host ({} of the "
      "run).",
      base::format_plural(fills.rows.size(), "fill", "fills"),
      base::format_duration(static_cast<double>(fills.work_ns)),
      base::format_duration(static_cast<double>(fills.host_ns)),
      base::format_percent(facts.share(fills.host_ns)));
  found.supposes = "if there are no fills";
  found.words.implementation_hint =
      "PyTorch does so from 2.0 on, unless told otherwise.\n"
      "optimizer.zero_grad(set_to_none=True)";
  found.edit = [&facts](Edits& edits, Effort) {
    for (const std::uint32_t row : facts.zero_fills.rows) {
      scale_work(edits, facts.plan, row, 0);
      scale_lag(edits, facts.plan, row, 0);
    }
    for (const SpanId one : facts.zero_fills.around) scale_host(edits, facts.plan, one, 0);
  };
  return {found};
}

}  // namespace fathom::advise
