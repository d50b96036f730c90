#include <fmt/format.h>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  The first work of a stream began over 1 ms after its launch had returned, and the GPU
//          shows nothing in between: the recording began in the middle of something, and what ran
//          there was not recorded. That time is 10 % of what was traced.
// Edit     None: what is not recorded cannot be judged.
namespace fathom::advise {
namespace {

constexpr double kExcerptTriggerPct = 10;

// A server is told to record; its code is not the user's.
std::string whole_steps_hint(const Platform& platform) {
  if (platform.server == Server::sglang) {
    return "Let the server record several steps: the later ones are whole.\n"
           "curl -X POST http://localhost:30000/start_profile "
           "-H 'Content-Type: application/json' -d '{\"num_steps\": 5}'";
  }
  if (platform.server == Server::vllm) {
    return "Let the server record several steps: the later ones are whole.\n"
           "curl -X POST http://localhost:8000/start_profile\n"
           "curl -X POST http://localhost:8000/stop_profile  # after some requests";
  }
  return hint_for(platform, {.words = "Begin the recording before a step and end it after one",
                             .pytorch = ", and wait for the GPU before it begins.\n"
                                        "torch.cuda.synchronize()\n"
                                        "profiler.start()  # then whole steps",
                             .cuda = ", and wait for the GPU before it begins.\n"
                                     "cudaDeviceSynchronize();\n"
                                     "cudaProfilerStart();"});
}

}  // namespace

Candidates rule_excerpt(const Facts& facts) {
  const std::int64_t unknown = base::total_length(facts.unrecorded);
  const auto traced = static_cast<double>(facts.window.length());
  if (unknown == 0 || static_cast<double>(unknown) < kExcerptTriggerPct / 100 * traced) return {};
  Candidate found = found_by("excerpt", SuggestionType::algorithm, unknown);
  found.words.operation = facts.trace.name(facts.first_unrecorded_launch);
  found.words.title = "Record whole steps: this trace begins in the middle of one";
  found.words.description = fmt::format(
      "For {} after the first launches the GPU shows no work, although some was queued: it worked "
      "on what was launched before the recording began. That time is not counted as part of the "
      "run.",
      base::format_duration(static_cast<double>(unknown)));
  found.supposes = "Saves nothing, but shows what the GPU does in that time.";
  found.words.implementation_hint = whole_steps_hint(facts.platform);
  show_in_order(found.words, {facts.first_unrecorded_launch});
  return {found};
}

}  // namespace fathom::advise
