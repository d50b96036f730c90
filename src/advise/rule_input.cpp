#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "analyze/run/set_up_calls.h"
#include "base/format.h"

// Trigger  The threads that launch GPU work load data for over 5 % of the run, in more than one
// call:
//          with one, there is nothing to load ahead of. The first call is left out where it takes 3
//          times what is usual: it starts workers and opens files, which is set-up.
// Edit     The loading shrinks. In worker processes it goes on beside the step: with W of them,
//          what is left is what the rest of the step does not cover of its W-th part, and at least
//          50, 10 and 2 %. W is 2, 4 and 8. Where workers are in use already, waiting for them
//          shrinks by 25, 50 and 90 %.
namespace fathom::advise {
namespace {

constexpr double kInputTriggerPct = 5;

struct Load {
  SpanId span = trace::kNoSpan;
  std::int64_t rest_ns = 0;  // until the next begins
};

// The outermost, by thread and time.
std::vector<Load> loads_of(const Facts& facts) {
  std::vector<Load> loads;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (!facts.names.loads_data(id)) continue;
    const std::uint32_t thread = facts.thread_of(id);
    if (thread == analyze::HostLines::kNoThread || !facts.takes_part[thread]) continue;
    const bool same_thread =
        !loads.empty() && facts.spans.track[loads.back().span] == facts.spans.track[id];
    if (same_thread) {
      const std::int64_t end = facts.spans.end_ns(loads.back().span);
      if (facts.spans.start_ns[id] < end) continue;
      loads.back().rest_ns = facts.spans.start_ns[id] - end;
    }
    loads.push_back({id, 0});
  }
  // The last has a step after it like the one before.
  for (std::size_t i = 1; i < loads.size(); ++i) {
    if (loads[i].rest_ns == 0) loads[i].rest_ns = loads[i - 1].rest_ns;
  }
  return loads;
}

// Without the first, if it sets up the loader.
void leave_out_set_up(const Facts& facts, std::vector<Load>& loads) {
  if (loads.size() < 3) return;
  std::vector<std::int64_t> times;
  for (const Load& load : loads) times.push_back(facts.spans.duration_ns[load.span]);
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  const auto first =
      std::min_element(loads.begin(), loads.end(), [&](const Load& a, const Load& b) {
        return facts.spans.start_ns[a.span] < facts.spans.start_ns[b.span];
      });
  if (facts.spans.duration_ns[first->span] >= analyze::kTimesUsualLoad * times[times.size() / 2]) {
    loads.erase(first);
  }
}

// Workers share the processor with the thread they work for, and what they have made is taken over
// from them: a part of the loading stays.
double left_with_workers(std::int64_t load_ns, std::int64_t rest_ns, Effort effort) {
  const auto load = static_cast<double>(load_ns);
  const double uncovered = load / pick(effort, 2.0, 4.0, 8.0) - static_cast<double>(rest_ns);
  return std::max(pick(effort, 0.5, 0.1, 0.02), uncovered / load);
}

}  // namespace

Candidates rule_input(const Facts& facts) {
  if (!facts.names.any_loads_data()) return {};
  std::vector<Load> loads = loads_of(facts);
  leave_out_set_up(facts, loads);
  if (loads.size() < 2) return {};
  std::int64_t total = 0;
  for (const Load& load : loads) total += facts.spans.duration_ns[load.span];
  if (facts.share(total) < kInputTriggerPct) return {};

  const std::string_view name = facts.trace.name(loads.front().span);
  const bool has_workers = name.find("MultiProcess") != name.npos;
  Candidate found = found_by("input", SuggestionType::algorithm, total);
  found.words.operation = name;
  found.words.title = has_workers ? "Load data faster: the workers do not keep up"
                                  : "Load data in worker processes";
  found.words.description = fmt::format(
      "The thread that launches GPU work loads data itself: {} in {}, {} of the run.",
      base::format_duration(static_cast<double>(total)),
      base::format_plural(loads.size(), "call", "calls"), base::format_percent(facts.share(total)));
  if (has_workers) {
    found.words.description = fmt::format(
        "The thread that launches GPU work waits for data from its workers: {} in {}, {} of the "
        "run.",
        base::format_duration(static_cast<double>(total)),
        base::format_plural(loads.size(), "call", "calls"),
        base::format_percent(facts.share(total)));
  }
  found.supposes = has_workers ? "if half of the waiting goes away"
                               : "if four workers load data alongside the step";
  found.words.implementation_hint =
      has_workers
          ? "More workers, cheaper transforms, smaller or decoded files; keep workers alive "
            "between epochs.\nDataLoader(dataset, num_workers=8, prefetch_factor=4, "
            "persistent_workers=True, pin_memory=True)"
          : "Let worker processes read and decode, ahead of the step, into pinned memory.\n"
            "DataLoader(dataset, num_workers=4, prefetch_factor=2, persistent_workers=True, "
            "pin_memory=True)";
  std::vector<SpanId> spans;
  for (const Load& load : loads) spans.push_back(load.span);
  show(found.words, facts.trace, spans);
  found.edit = [&facts, loads, has_workers](Edits& edits, Effort effort) {
    for (const Load& load : loads) {
      const double left =
          has_workers ? pick(effort, 0.75, 0.5, 0.1)
                      : left_with_workers(facts.spans.duration_ns[load.span], load.rest_ns, effort);
      scale_host(edits, facts.plan, load.span, left);
    }
  };
  return {found};
}

}  // namespace fathom::advise
