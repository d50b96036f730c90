#include "advise/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "advise/attribution.h"
#include "advise/replay.h"
#include "advise/rules.h"
#include "analyze/run/wall.h"
#include "base/format.h"
#include "base/parallel.h"

namespace fathom::advise {
namespace {

using trace::SpanId;

constexpr unsigned kThreads = 2;
constexpr double kConcernsMuchPct = 20;

constexpr std::array kRules = {
    rule_input,       rule_preparation, rule_launch,       rule_idle,        rule_queued,
    rule_sync,        rule_overlap,     rule_buckets,      rule_late_rank,   rule_link,
    rule_ddp,         rule_batching,    rule_optimizer,    rule_streams,     rule_copies,
    rule_streaming,   rule_repeats,     rule_graph_inputs, rule_allocations, rule_zero_fills,
    rule_setup,       rule_attention,   rule_precision,    rule_alignment,   rule_pointwise,
    rule_layout,      rule_recompute,   rule_dominant,     rule_routing,     rule_capacity,
    rule_small_batch, rule_stacks,      rule_excerpt};

bool concerns_more(const Candidate& a, const Candidate& b) {
  return a.concerns_ns > b.concerns_ns;
}

// Those that have no gain, what concerns most first.
void add_without_gain(const Facts& facts, Candidates& candidates, bool edits_too, bool all,
                      Suggestions& into) {
  std::stable_sort(candidates.begin(), candidates.end(), concerns_more);
  for (const Candidate& candidate : candidates) {
    if (candidate.edit && !edits_too) continue;
    if (candidate.edit && !all && facts.share(candidate.concerns_ns) < kWorthPct) {
      ++into.left_out;
      continue;
    }
    Suggestion found = candidate.words;
    found.current_ns = static_cast<double>(facts.wall_ns);
    const bool is_much = facts.share(candidate.concerns_ns) >= kConcernsMuchPct;
    found.priority = is_much ? Priority::medium : Priority::low;
    found.expected_improvement = candidate.edit
                                     ? "Unknown: the replay of this trace cannot be trusted."
                                     : candidate.supposes;
    into.list.push_back(std::move(found));
  }
}

std::string why_not(std::int64_t measured_ns, std::int64_t replayed_ns) {
  const double off = std::abs(static_cast<double>(replayed_ns - measured_ns)) /
                     static_cast<double>(std::max<std::int64_t>(1, measured_ns)) * 100;
  if (off <= kRoughError * 100) {
    return "No gains are given: in the replay, GPU work does not start when it did in the trace, "
           "so something not in the trace held it up.";
  }
  return fmt::format(
      "No gains are given: the replay takes {} but the run took {}, so something not in the trace "
      "held it up.",
      base::format_duration(replayed_ns), base::format_duration(measured_ns));
}

Candidates candidates_of(const Facts& facts) {
  std::array<Candidates, kRules.size()> of_rule;
  base::in_parallel(kThreads, kRules.size(),
                    [&](std::size_t rule) { of_rule[rule] = kRules[rule](facts); });
  Candidates all;
  for (Candidates& some : of_rule) std::move(some.begin(), some.end(), std::back_inserter(all));
  return all;
}

void suggest_from_trace(const trace::Trace& trace, const analyze::Dependencies& on,
                        const analyze::Wall& wall, bool all, const HostTime& host_time,
                        const analyze::DevicePeaks& peaks, Suggestions& found) {
  const ReplayPlan plan = plan_replay(trace, on, base::unite(wall.set_up, wall.unknown));
  if (plan.measured_ns == 0) {
    found.why_no_gains = "Nothing in this file took any time.";
    return;
  }
  const Facts facts(trace, plan, wall, host_time, peaks);
  found.run_ns = static_cast<double>(facts.wall_ns);
  Candidates candidates = candidates_of(facts);
  const Replay unchanged = replay(plan);
  const std::int64_t replayed_ns = unchanged.wall_ns;
  found.measured_ns = static_cast<double>(plan.measured_ns);
  found.replayed_ns = static_cast<double>(replayed_ns);
  const double error = replay_error(plan, unchanged);
  found.replay_error_pct = error * 100;
  found.has_gains = error <= kRoughError;
  found.is_rough = found.has_gains && error > kTrustedError;
  if (found.has_gains) {
    attribute_gains(facts, candidates, {replayed_ns, error, all}, found);
  } else {
    found.why_no_gains = why_not(plan.measured_ns, replayed_ns);
  }
  add_without_gain(facts, candidates, !found.has_gains, all, found);
}

// The whole of a profile: what its outermost operations took, as far as that is known.
double profile_ns(const std::vector<NamedFigures>& operations) {
  double total = 0;
  for (const NamedFigures& operation : operations) {
    total += operation.self_ns.value_or(operation.total_ns.value_or(0));
  }
  return total;
}

void suggest_from_profile(const std::vector<NamedFigures>& operations, bool all,
                          Suggestions& found) {
  const double whole = profile_ns(operations);
  found.measured_ns = whole;
  found.run_ns = whole;
  found.why_no_gains =
      "This file has the times of operations but not what waited for what: estimates are upper "
      "bounds, the most an operation could save.";
  for (Suggestion& one : rule_operations(operations)) {
    one.gain_pct = one.gain && whole > 0 ? static_cast<double>(one.gain->mid_ns) / whole * 100 : 0;
    one.gain_pct = std::min(one.gain_pct, 100.0);
    one.priority = priority_of(one.gain_pct);
    one.expected_improvement = one.gain ? fmt::format("Saves at most {} ({} of the total).",
                                                      base::format_duration(one.gain->mid_ns),
                                                      base::format_percent(one.gain_pct))
                                        : "Saves memory, not time.";
    if (one.gain && one.gain_pct < kWorthPct && !all) {
      ++found.left_out;
    } else {
      found.list.push_back(std::move(one));
    }
  }
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const auto& a, const auto& b) { return a.gain_pct > b.gain_pct; });
}

// Rules write code after the words, each line after a line break.
void take_code_apart(Suggestion& one) {
  std::string& hint = one.implementation_hint;
  const std::size_t words = hint.find('\n');
  for (std::size_t at = words; at != std::string::npos;) {
    const std::size_t end = hint.find('\n', at + 1);
    one.code.push_back(hint.substr(at + 1, end == std::string::npos ? end : end - at - 1));
    at = end;
  }
  hint.resize(std::min(words, hint.size()));
}

}  // namespace

Suggestions suggest(const trace::Trace& trace, bool all, const HostTime& host_time,
                    const analyze::DevicePeaks& peaks) {
  return suggest(trace, analyze::dependencies(trace), analyze::wall(trace), all, host_time, peaks);
}

Suggestions suggest(const trace::Trace& trace, const analyze::Dependencies& on,
                    const analyze::Wall& wall, bool all, const HostTime& host_time,
                    const analyze::DevicePeaks& peaks) {
  Suggestions found;
  if (on.gpu.rows.empty() && !trace.operations.empty()) {
    suggest_from_profile(trace.operations, all, found);
  } else {
    suggest_from_trace(trace, on, wall, all, host_time, peaks, found);
  }
  for (Suggestion& one : found.list) take_code_apart(one);
  if (all) found.left_out = 0;  // but for what brings nothing, which is no suggestion
  return found;
}

Suggestions suggest(const std::vector<NamedFigures>& operations, bool all) {
  Suggestions found;
  suggest_from_profile(operations, all, found);
  if (all) found.left_out = 0;
  return found;
}

void show(Suggestion& words, const trace::Trace& trace, std::vector<SpanId> spans) {
  const auto longer = [&](SpanId a, SpanId b) {
    const std::int64_t left = trace.spans.duration_ns[a];
    const std::int64_t right = trace.spans.duration_ns[b];
    return left != right ? left > right : a < b;
  };
  const std::size_t shown = std::min(kEvidence, spans.size());
  std::partial_sort(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(shown), spans.end(),
                    longer);
  show_in_order(words, std::move(spans));
}

void show_work(Suggestion& words, const Facts& facts, const std::vector<std::uint32_t>& rows) {
  std::vector<SpanId> spans;
  spans.reserve(rows.size());
  for (const std::uint32_t row : rows) spans.push_back(facts.on.gpu.rows[row].span);
  show(words, facts.trace, std::move(spans));
}

void keep_largest(Candidates& candidates) {
  constexpr std::size_t kMost = 3;
  std::stable_sort(candidates.begin(), candidates.end(), concerns_more);
  if (candidates.size() > kMost) candidates.resize(kMost);
}

void show_in_order(Suggestion& words, std::vector<SpanId> spans) {
  words.evidence_count = spans.size();
  if (spans.size() > kEvidence) spans.resize(kEvidence);
  words.evidence = std::move(spans);
}

}  // namespace fathom::advise
