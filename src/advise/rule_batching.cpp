#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/kernel_name.h"
#include "advise/rules.h"
#include "base/format.h"

// Trigger  One kernel of under 10 µs follows itself 10 times or more on its stream, launched by one
//          thread with less than 100 µs and no wait between two launches; 100 such launches in all.
// Edit     The calls of a row of them become one: its later launches, what the host does before
//          each, and the lag on the GPU go away, the work stays. Every second launch, all, all.
namespace fathom::advise {
namespace {

constexpr std::int64_t kBatchingShortNs = 10'000;
constexpr std::int64_t kCloseNs = 100'000;
constexpr std::size_t kLongRun = 10;
constexpr std::size_t kManyLaunches = 100;

struct Tiny {
  std::vector<std::uint32_t> follow;  // rows that would be part of the row before them
  std::uint64_t runs = 0;
  std::int64_t work_ns = 0;
  std::int64_t launch_ns = 0;
  std::int64_t saves_ns = 0;  // from launch to launch, and the lags on the GPU
};

bool waits_between(const Facts& facts, std::uint32_t thread, base::Interval time) {
  const auto [first, last] = pieces_within(facts.on.host, thread, time);
  for (std::size_t i = first; i < last; ++i) {
    if (facts.on.host.span[i] != kNoSpan && facts.is_wait(facts.on.host.span[i])) return true;
  }
  return false;
}

bool follows(const Facts& facts, const WorkRow& before, const WorkRow& row) {
  if (row.name != before.name || row.duration_ns() >= kBatchingShortNs) return false;
  if (row.launch == kNoSpan || before.launch == kNoSpan || row.launch == before.launch)
    return false;
  const std::uint32_t thread = facts.thread_of(row.launch);
  if (thread == HostLines::kNoThread || thread != facts.thread_of(before.launch)) return false;
  const base::Interval between{facts.spans.end_ns(before.launch), facts.spans.start_ns[row.launch]};
  return between.length() >= 0 && between.length() < kCloseNs &&
         !waits_between(facts, thread, between);
}

std::map<trace::NameId, Tiny> tiny_kernels(const Facts& facts) {
  std::map<trace::NameId, Tiny> found;
  const std::vector<WorkRow>& rows = facts.on.gpu.rows;
  for (const analyze::GpuStream& stream : facts.on.gpu.streams) {
    const std::size_t end = stream.first + stream.count;
    for (std::size_t first = stream.first; first < end;) {
      std::size_t last = first + 1;
      if (rows[first].type == analyze::WorkType::compute &&
          rows[first].duration_ns() < kBatchingShortNs) {
        while (last < end && follows(facts, rows[last - 1], rows[last])) ++last;
      }
      if (last - first >= kLongRun) {
        Tiny& tiny = found[rows[first].name];
        ++tiny.runs;
        for (std::size_t i = first; i < last; ++i) {
          tiny.work_ns += rows[i].duration_ns();
          tiny.launch_ns += facts.call_ns(rows[i].launch);
          if (i == first) continue;
          tiny.follow.push_back(static_cast<std::uint32_t>(i));
          const std::int64_t blocked =
              facts.spans.duration_ns[rows[i].launch] - facts.call_ns(rows[i].launch);
          tiny.saves_ns += facts.spans.end_ns(rows[i].launch) -
                           facts.spans.end_ns(rows[i - 1].launch) - blocked + facts.plan.lag_ns[i];
        }
      }
      first = last;
    }
  }
  return found;
}

void join(Edits& edits, const Facts& facts, std::uint32_t row) {
  const std::vector<WorkRow>& rows = facts.on.gpu.rows;
  join_to_row_before(edits, facts.plan, row);
  const base::Interval time{facts.spans.end_ns(rows[row - 1].launch),
                            facts.spans.end_ns(rows[row].launch)};
  const auto [first, last] = pieces_within(facts.on.host, facts.thread_of(rows[row].launch), time);
  for (std::size_t i = first; i < last; ++i) scale_piece(edits, facts.plan, i, 0);
}

std::string batching_hint(const Platform& platform) {
  const std::string hint = hint_for(
      platform,
      {.words = "Process all of the data in one call",
       .pytorch = ": a batch dimension, a foreach variant, a compiled form.",
       .cuda = ": one larger grid over all of it, or capture the sequence of launches as a "
               "graph.\n"
               "cudaGraphLaunch(exec, stream);  // one call for the whole sequence",
       .opencl = ": one NDRange over all of it, with the part's index as an extra "
                 "dimension.\n"
                 "clEnqueueNDRangeKernel(queue, kernel, 2, NULL, all_parts, NULL, 0, "
                 "NULL, NULL);"});
  if (!platform.is_pytorch) return hint;
  if (!platform.trains)
    return hint + "\nmodel = torch.compile(model)  # fuses many kernels into one";
  return hint + "\ntorch._foreach_add_(parameters, updates)  # instead of a loop over parameters" +
         fused_optimizer_line(platform);
}

Candidate candidate_of(const Facts& facts, trace::NameId name, const Tiny& tiny) {
  const std::uint64_t calls = tiny.follow.size() + tiny.runs;
  Candidate found = found_by("batching", SuggestionType::batching, tiny.saves_ns);
  found.words.operation = facts.trace.names.view(name);
  found.words.title = "Combine many tiny kernels into one";
  found.words.description = fmt::format(
      "{} of {} in {} with nothing in between, {} each: {} of work for {} of launching.",
      base::format_plural(calls, "call", "calls"),
      base::fit(kernel_base_name(found.words.operation), 60),
      base::format_plural(tiny.runs, "sequence", "sequences"),
      base::format_duration(static_cast<double>(tiny.work_ns) / static_cast<double>(calls)),
      base::format_duration(static_cast<double>(tiny.work_ns)),
      base::format_duration(static_cast<double>(tiny.launch_ns)));
  found.supposes = "if each sequence of calls becomes one call with the same work";
  found.words.implementation_hint = batching_hint(facts.platform);
  show_work(found.words, facts, tiny.follow);
  found.edit = [&facts, follow = tiny.follow](Edits& edits, Effort effort) {
    const std::size_t every = pick<std::size_t>(effort, 2, 1, 1);
    for (std::size_t i = 0; i < follow.size(); i += every) join(edits, facts, follow[i]);
  };
  return found;
}

}  // namespace

Candidates rule_batching(const Facts& facts) {
  Candidates found;
  for (const auto& [name, tiny] : tiny_kernels(facts)) {
    if (tiny.follow.size() + tiny.runs < kManyLaunches) continue;
    found.push_back(candidate_of(facts, name, tiny));
  }
  keep_largest(found);
  return found;
}

}  // namespace fathom::advise
