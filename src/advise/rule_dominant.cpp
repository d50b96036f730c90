#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  One kernel has over half of the time of all GPU work, and over 5 % of the run.
// Edit     It takes 5, 10 and 25 % less time. A trace has no counters that tell how far it is from
//          what the GPU could do: this says what making it faster is worth, not that it can be.
namespace fathom::advise {
namespace {

using analyze::WorkRow;
using trace::SpanId;

constexpr double kOfWork = 0.5;
constexpr double kTriggerPct = 5;

struct Total {
  std::int64_t ns = 0;
  std::vector<std::uint32_t> rows;
};

}  // namespace

Candidates rule_dominant(const Facts& facts) {
  std::map<trace::NameId, Total> totals;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != analyze::WorkType::compute) continue;
    totals[row.name].ns += row.duration_ns();
    totals[row.name].rows.push_back(i);
  }
  const auto most =
      std::max_element(totals.begin(), totals.end(),
                       [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  if (most == totals.end() || facts.share(most->second.ns) < kTriggerPct) return {};
  const Total& total = most->second;
  const double of_work = static_cast<double>(total.ns) / static_cast<double>(facts.work_ns);
  if (of_work <= kOfWork) return {};

  Candidate found;
  found.concerns_ns = total.ns;
  found.words.rule = "dominant";
  found.words.type = SuggestionType::algorithm;
  found.words.operation = facts.trace.names.view(most->first);
  found.words.title = "Look at one kernel first";
  found.words.description = fmt::format("{} of it take {} of all GPU time ({}).",
                                        base::format_plural(total.rows.size(), "call", "calls"),
                                        base::format_percent(of_work * 100),
                                        base::format_duration(static_cast<double>(total.ns)));
  found.supposes = "if it took 10 % less";
  found.words.implementation_hint =
      "Measure how far it is from what memory and arithmetic units can do (Nsight Compute, "
      "rocprof); then a better algorithm, layout, precision or library call.\n"
      "ncu --set full --kernel-name regex:NAME -- python train.py";
  show_work(found.words, facts, total.rows);
  found.edit = [&facts, rows = total.rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.95, 0.9, 0.75));
    }
  };
  return {found};
}

}  // namespace fathom::advise
