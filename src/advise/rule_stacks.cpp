#include <fmt/format.h>

#include "advise/late_launches.h"
#include "advise/rules.h"
#include "base/format.h"

// Trigger  The trace has over 50 functions of Python per millisecond, and the GPU is idle for 10 %
//          of the run because the host launches late: recording stacks makes the host slower than
//          it is, so that the idle time is an upper bound. Not where Fathom sampled them from
//          outside, which does not slow the program down.
// Edit     None: the program itself does not change.
namespace fathom::advise {
namespace {

constexpr double kStacksTriggerPct = 10;

// How to leave them out, with the profiler that recorded them.
std::string without_stacks(const Platform& platform) {
  const std::string words =
      "Keep stacks for finding where calls come from, and leave them out for timing.";
  if (platform.server == Server::vllm) {
    return words + "\nvllm serve MODEL --profiler-config.torch_profiler_with_stack=false";
  }
  if (platform.server == Server::sglang) {
    return words +
           "\ncurl -X POST http://localhost:30000/start_profile "
           "-H 'Content-Type: application/json' -d '{\"with_stack\": false}'";
  }
  return hint_for(platform, {.words = words,
                             .pytorch = "\ntorch.profiler.profile(..., with_stack=False)",
                             .jax = "\noptions = jax.profiler.ProfileOptions()\n"
                                    "options.python_tracer_level = 0\n"
                                    "jax.profiler.start_trace(folder, profiler_options=options)"});
}

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
  found.words.implementation_hint = without_stacks(facts.platform);
  std::vector<SpanId> launches;
  for (const LateLaunch& one : late.all) launches.push_back(one.launch);
  show_in_order(found.words, std::move(launches));
  return {found};
}

}  // namespace fathom::advise
