#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "analyze/run/set_up_calls.h"
#include "base/format.h"

// Trigger  Setting up the device, loading code and taking the first memory (set_up_calls.h) take 10
// % of
//          the time that was traced. Of a program that Fathom recorded from its start to its end,
//          building programs is a matter of its own.
// Edit     None: it happens once and is no part of the run, so leaving it out saves nothing.
// Programs
//          that are built from source: half of the time stays, 10 %, nothing; a binary that was
//          kept makes the next run of the program shorter.
namespace fathom::advise {
namespace {

constexpr double kSetUpTriggerPct = 10;

// What several threads or processes do at the same time counts once.
std::int64_t time_of(const Facts& facts, const std::vector<SpanId>& calls) {
  std::vector<base::Interval> times;
  for (const SpanId id : calls) times.push_back({facts.spans.start_ns[id], facts.spans.end_ns(id)});
  return base::total_length(base::normalize(std::move(times)));
}

Candidate set_up_candidate(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = found_by("setup", SuggestionType::caching, time_of(facts, calls));
  show(found.words, facts.trace, calls);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  return found;
}

Candidate of_builds(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = set_up_candidate(facts, calls);
  found.words.title = "Build GPU programs once and keep them";
  found.words.description =
      fmt::format("{} to build or load programs took {} ({} of the run).",
                  base::format_plural(calls.size(), "call", "calls"),
                  base::format_duration(static_cast<double>(found.concerns_ns)),
                  base::format_percent(facts.share(found.concerns_ns)));
  found.supposes = "if what was built is kept between runs";
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Build or load each program once, before its first use.",
       .pytorch = " torch.compile and Triton cache what they build in a directory: keep it "
                  "between runs.",
       .jax = " JAX can keep what it compiled between runs.\n"
              "export JAX_COMPILATION_CACHE_DIR=~/.cache/jax",
       .cuda = " Ship machine code for the GPU in use: what is shipped as source or in an "
               "intermediate form is compiled on loading.",
       .opencl = " Save its binary and load that next time, or make sure that the driver's kernel "
                 "cache is on.\n"
                 "clGetProgramInfo(program, CL_PROGRAM_BINARIES, size, binaries, NULL);  // save\n"
                 "clCreateProgramWithBinary(context, 1, &device, …);  // next time"});
  found.edit = [&facts, calls](Edits& edits, Effort effort) {
    for (const SpanId call : calls) {
      scale_host(edits, facts.plan, call, pick(effort, 0.5, 0.1, 0.0));
    }
  };
  return found;
}

std::string warm_up_hint(const Platform& platform) {
  return hint_for(
      platform,
      {.words = "Before the part that is traced, do once everything that the first use sets up",
       .pytorch = ": let the profiler skip the first steps.\n"
                  "torch.profiler.profile(schedule=torch.profiler.schedule(wait=3, warmup=2, "
                  "active=3))",
       .jax = ": run the step once, so that it is compiled.\n"
              "step(state, batch).block_until_ready()  # before jax.profiler.start_trace",
       .cuda = ": create streams and library handles, and launch each kernel once.",
       .opencl = ": create contexts, queues and kernels, and enqueue each kernel once."});
}

Candidate of_first_uses(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = set_up_candidate(facts, calls);
  found.words.title = "Record a program that has warmed up: much of this trace is set-up";
  found.words.description = fmt::format(
      "{} took {}: the first use of a device, kernel or library sets it up. That happens once and "
      "is not counted as part of the run.",
      base::format_plural(calls.size(), "call", "calls"),
      base::format_duration(static_cast<double>(found.concerns_ns)));
  found.supposes = "Saves nothing: the steps after the first do without it.";
  found.words.implementation_hint = warm_up_hint(facts.platform);
  return found;
}

}  // namespace

Candidates rule_setup(const Facts& facts) {
  std::vector<SpanId> builds;
  std::vector<SpanId> others;
  for (const SpanId call : facts.set_up) {
    const bool counts = facts.is_whole_program &&
                        analyze::set_up_role(facts.trace.name(call)) == analyze::SetUpRole::program;
    (counts ? builds : others).push_back(call);
  }
  Candidates found;
  if (!builds.empty()) found.push_back(of_builds(facts, builds));
  const auto traced = static_cast<double>(std::max<std::int64_t>(1, facts.window.length()));
  const bool is_much =
      static_cast<double>(time_of(facts, others)) >= kSetUpTriggerPct / 100 * traced;
  if (is_much && !others.empty() && !facts.is_whole_program) {
    found.push_back(of_first_uses(facts, others));
  }
  return found;
}

}  // namespace fathom::advise
