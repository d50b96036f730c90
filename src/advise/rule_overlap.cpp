#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Communication with no other GPU work beside it takes over 5 % of the run, and less than
//          70 % of all communication is covered.
// Edit     Of the uncovered part of each collective 30, 70 and 100 % goes on beside compute, but no
//          more than there is compute to hide it behind. What a collective waits for other ranks is
//          in it, for one rank cannot tell.
namespace fathom::advise {
namespace {

constexpr double kOverlapTriggerPct = 5;
constexpr double kEnoughOverlapPct = 70;

struct Exposed {
  std::uint32_t row = 0;
  std::int64_t ns = 0;
};

struct Communication {
  std::vector<Exposed> rows;
  std::int64_t total_ns = 0;
  std::int64_t exposed_ns = 0;
  std::int64_t free_compute_ns = 0;  // compute with no communication beside it
};

base::IntervalSet time_of(const Facts& facts, bool communicates) {
  std::vector<Interval> time;
  for (const WorkRow& row : facts.on.gpu.rows) {
    if ((row.type == WorkType::communication) == communicates) {
      time.push_back({row.start_ns, row.end_ns});
    }
  }
  return base::normalize(std::move(time));
}

Communication communication_of(const Facts& facts) {
  const base::IntervalSet others = time_of(facts, false);
  const base::IntervalSet exchange = time_of(facts, true);
  Communication found;
  found.total_ns = base::total_length(exchange);
  found.exposed_ns = base::total_length(base::subtract(exchange, others));
  found.free_compute_ns = base::total_length(base::subtract(others, exchange));
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::communication) continue;
    const std::int64_t alone =
        row.duration_ns() - base::length_within(others, {row.start_ns, row.end_ns});
    if (alone > 0) found.rows.push_back({i, alone});
  }
  return found;
}

// What is exchanged tells which call it was: gradients are reduced, embeddings sent around.
std::string overlap_hint(const Platform& platform, std::string_view kernel) {
  const std::string hint = hint_for(
      platform,
      {.words =
           "Start collectives as soon as their data is ready, on a separate stream, and "
           "wait for them only where the result is used. To see whether one rank is late: fathom "
           "hta on the traces of all ranks.",
       .cuda =
           "\ncudaStreamWaitEvent(compute, received, 0);  // only before what needs the result"});
  if (!platform.is_pytorch) return hint;
  const bool reduces = kernel.find("Reduce") != kernel.npos;
  if (reduces && platform.trains) {
    return hint +
           "\nDistributedDataParallel(model, bucket_cap_mb=50, gradient_as_bucket_view=True)";
  }
  const std::string_view call = reduces ? "all_reduce(data"
                                : kernel.find("Gather") != kernel.npos
                                    ? "all_gather_into_tensor(out, data"
                                    : "all_to_all_single(out, data";
  return fmt::format(
      "{}\nwork = dist.{}, async_op=True)\n...  # compute that does not need it\nwork.wait()", hint,
      call);
}

}  // namespace

Candidates rule_overlap(const Facts& facts) {
  const Communication seen = communication_of(facts);
  if (facts.share(seen.exposed_ns) < kOverlapTriggerPct) return {};
  const double overlap_pct =
      100 - static_cast<double>(seen.exposed_ns) * 100 / static_cast<double>(seen.total_ns);
  if (overlap_pct >= kEnoughOverlapPct) return {};

  Candidate found = found_by("overlap", SuggestionType::parallelization, seen.exposed_ns);
  found.words.title = "Hide communication behind compute";
  std::vector<Exposed> by_time = seen.rows;
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const Exposed& a, const Exposed& b) { return a.ns > b.ns; });
  std::vector<SpanId> spans;
  for (const Exposed& one : by_time) spans.push_back(facts.on.gpu.rows[one.row].span);
  found.words.operation = facts.trace.name(spans.front());
  found.words.description = fmt::format(
      "For {} ({} of the run) the GPU did nothing but communicate; {} of all communication "
      "overlapped other work. This includes waiting for slower ranks.",
      base::format_duration(static_cast<double>(seen.exposed_ns)),
      base::format_percent(facts.share(seen.exposed_ns)), base::format_percent(overlap_pct));
  found.supposes = "if 70 % of it overlaps compute";
  found.words.implementation_hint = overlap_hint(facts.platform, found.words.operation);
  show(found.words, facts.trace, spans);
  found.edit = [&facts, seen](Edits& edits, Effort effort) {
    const double room = static_cast<double>(seen.free_compute_ns) /
                        static_cast<double>(std::max<std::int64_t>(1, seen.exposed_ns));
    const double hidden = std::min(pick(effort, 0.3, 0.7, 1.0), room);
    for (const Exposed& one : seen.rows) {
      const auto whole = static_cast<double>(facts.on.gpu.rows[one.row].duration_ns());
      scale_work(edits, facts.plan, one.row, 1 - hidden * static_cast<double>(one.ns) / whole);
    }
  };
  return {found};
}

}  // namespace fathom::advise
