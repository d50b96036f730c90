#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Calls that do nothing but wait for the GPU take 15 % of the run or more than half of the
//          GPU's idle time.
// Edit     The waits are left out, so that the host runs ahead: every second one, all, all. Those
//          right after a copy to the host are the host reading a result, which may be needed: they
//          are a suggestion of their own, of which none, every second one and all are left out.
namespace fathom::advise {
namespace {

using analyze::CallRole;
using trace::kNoSpan;
using trace::SpanId;

constexpr double kTriggerPct = 15;
constexpr double kOfIdlePct = 50;

struct Waits {
  std::vector<SpanId> plain;
  std::vector<SpanId> reads;  // of a result
  std::int64_t plain_ns = 0;
  std::int64_t reads_ns = 0;
};

// Whether what the call waited for ended with a copy to the host.
bool reads_a_result(const Facts& facts, SpanId call) {
  const auto& waits = facts.on.host_waits;
  const auto by_call = [](const analyze::HostWait& a, SpanId b) { return a.call < b; };
  auto wait = std::lower_bound(waits.begin(), waits.end(), call, by_call);
  for (; wait != waits.end() && wait->call == call; ++wait) {
    const analyze::WorkRow& row = facts.on.gpu.rows[wait->on];
    const bool comes_back = facts.direction(row) == Direction::from_gpu;
    // What was copied long before the call is not what it is about.
    if (comes_back && row.launch != kNoSpan &&
        facts.caller_of(row.launch) == facts.caller_of(call)) {
      return true;
    }
  }
  return false;
}

// At the end there is nothing left to run ahead to.
std::int64_t last_launch_ns(const Facts& facts) {
  std::int64_t last = INT64_MIN;
  for (const analyze::WorkRow& row : facts.on.gpu.rows) {
    if (row.launch != kNoSpan) last = std::max(last, facts.spans.start_ns[row.launch]);
  }
  return last;
}

// Several threads may wait at once.
std::int64_t time_in(const Facts& facts, const std::vector<SpanId>& calls) {
  std::vector<base::Interval> time;
  for (const SpanId call : calls) {
    time.push_back({facts.spans.start_ns[call], facts.spans.end_ns(call)});
  }
  return base::total_length(base::normalize(std::move(time)));
}

Waits waits_of(const Facts& facts) {
  const std::int64_t last_launch = last_launch_ns(facts);
  Waits found;
  for (const SpanId call : facts.waits) {
    if (!is_sync(facts.role(call)) || facts.spans.start_ns[call] >= last_launch) continue;
    const bool reads = reads_a_result(facts, call);
    (reads ? found.reads : found.plain).push_back(call);
  }
  found.plain_ns = time_in(facts, found.plain);
  found.reads_ns = time_in(facts, found.reads);
  return found;
}

// Leaves out one in `every`; none where that is 0.
void leave_out(Edits& edits, const ReplayPlan& plan, const std::vector<SpanId>& calls,
               std::size_t every) {
  for (std::size_t i = 0; every > 0 && i < calls.size(); i += every) {
    ignore_waits_of(edits, plan, calls[i]);
  }
}

Candidate candidate_of(const Facts& facts, const std::vector<SpanId>& calls, std::int64_t time_ns) {
  Candidate found;
  found.concerns_ns = time_ns;
  found.words.rule = "sync";
  found.words.type = SuggestionType::parallelization;
  std::vector<SpanId> longest = calls;
  std::stable_sort(longest.begin(), longest.end(), [&](SpanId a, SpanId b) {
    return facts.spans.duration_ns[a] > facts.spans.duration_ns[b];
  });
  found.words.operation = facts.trace.name(facts.caller_of(longest.front()));
  show(found.words, facts.trace, std::move(longest));
  return found;
}

std::string seen(const Facts& facts, const std::vector<SpanId>& calls, std::int64_t time_ns) {
  return fmt::format("the host waited {} ({} of the run) in {}",
                     base::format_duration(static_cast<double>(time_ns)),
                     base::format_percent(facts.share(time_ns)),
                     base::format_plural(calls.size(), "call", "calls"));
}

Candidate of_plain(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits.plain, waits.plain_ns);
  found.words.title = "Let the host run ahead: leave out synchronisation";
  found.words.description = fmt::format(
      "Before it went on to launch, {}: the GPU has nothing queued when such a call returns.",
      seen(facts, waits.plain, waits.plain_ns));
  found.supposes = "if the host did not wait";
  found.words.implementation_hint =
      "Keep torch.cuda.synchronize(), cudaDeviceSynchronize and clFinish out of the step; let "
      "streams wait for each other with events, and wait once at the end.\n"
      "done.record(copy_stream)\n"
      "compute_stream.wait_event(done)  # the host goes on";
  found.edit = [&facts, calls = waits.plain](Edits& edits, Effort effort) {
    leave_out(edits, facts.plan, calls, pick<std::size_t>(effort, 2, 1, 1));
  };
  return found;
}

Candidate of_reads(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits.reads, waits.reads_ns);
  found.words.title = "Keep results on the GPU: the host reads them one by one";
  found.words.description =
      fmt::format("To read results of the GPU, {}.", seen(facts, waits.reads, waits.reads_ns));
  found.supposes = "if every second of these reads were left out or came later";
  found.words.implementation_hint =
      "Log every N steps, gather values on the GPU and read them together, and avoid .item(), "
      ".cpu(), nonzero() and printing tensors in the step.\n"
      "total_loss += loss.detach()                       # instead of loss.item()\n"
      "if step % 50 == 0: print(total_loss.item() / 50)";
  found.edit = [&facts, calls = waits.reads](Edits& edits, Effort effort) {
    leave_out(edits, facts.plan, calls, pick<std::size_t>(effort, 0, 2, 1));
  };
  return found;
}

}  // namespace

Candidates rule_sync(const Facts& facts) {
  const Waits waits = waits_of(facts);
  const std::int64_t all = waits.plain_ns + waits.reads_ns;
  const std::int64_t idle = base::total_length(facts.gaps);
  const bool is_much_of_idle =
      static_cast<double>(all) * 100 > kOfIdlePct * static_cast<double>(idle) && idle > 0;
  if (facts.share(all) < kTriggerPct && !is_much_of_idle) return {};
  Candidates found;
  if (!waits.plain.empty()) found.push_back(of_plain(facts, waits));
  if (!waits.reads.empty()) found.push_back(of_reads(facts, waits));
  return found;
}

}  // namespace fathom::advise
