#include <fmt/format.h>

#include "advise/late_launches.h"
#include "advise/rules.h"
#include "base/format.h"

// Trigger  The trace has over 50 functions of Python per millisecond, and the GPU is idle for 10 %
// of
//          the run because the host launches late: recording stacks makes the host slower than it
//          is, so that the idle time is an upper bound.
// Edit     None: the program itself does not change.
namespace fathom::advise {
namespace {

constexpr double kStacksTriggerPct = 10;

}  // namespace

Candidates rule_stacks(const Facts& facts) {
  if (!facts.records_many_stacks()) return {};
  const LateLaunches late = late_launches(facts);
  if (facts.share(late.total_ns) < kStacksTriggerPct) return {};
  Candidate found = found_by("stacks", SuggestionType::algorithm, late.total_ns);
  found.words.operation = facts.trace.name(late.all.front().launch);
  found.words.title = "Record once more without stacks before you trust the idle time";
  found.words.description = fmt::format(
      "{} functions of Python were recorded, {} per millisecond. Recording each of them takes time "
      "on the thread that launches: the {} for which the GPU waited for it are an upper bound.",
      base::format_count(facts.python_spans),
      base::format_count(static_cast<std::uint64_t>(facts.python_spans_per_ms())),
      base::format_duration(static_cast<double>(late.total_ns)));
  found.supposes = "Saves nothing by itself, but shows how much idle time there is without it.";
  found.words.implementation_hint =
      "Keep stacks for finding where calls come from, and leave them out for timing.\n"
      "torch.profiler.profile(..., with_stack=False)";
  std::vector<SpanId> launches;
  for (const LateLaunch& one : late.all) launches.push_back(one.launch);
  show_in_order(found.words, std::move(launches));
  return {found};
}

}  // namespace fathom::advise
