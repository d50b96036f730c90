#include "advise/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "advise/replay.h"
#include "advise/rules.h"
#include "analyze/run/wall.h"
#include "base/format.h"
#include "base/parallel.h"
#include "base/progress.h"

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

Priority priority_of(double gain_pct) {
  if (gain_pct >= 20) return Priority::critical;
  if (gain_pct >= 10) return Priority::high;
  return gain_pct >= 3 ? Priority::medium : Priority::low;
}

// "6 %".
std::string rough_text(double error) {
  return fmt::format("{:.0f} %", error * 100);
}

// A change that was replayed by itself, and what it brought.
struct Tried {
  Candidate* candidate = nullptr;
  std::int64_t alone_ns = 0;
  std::int64_t known_ns = 0;  // the least it was seen to bring so far, alone or after others
};

// Takes the changes one by one, that which brings most first. Last come those that bring nothing by
// themselves but something once the others are made: a faster GPU where the host was what held the
// run up.
class Attribution {
 public:
  Attribution(const Facts& facts, std::int64_t replayed_ns, double error, bool all)
      : facts_(facts),
        unchanged_ns_(replayed_ns),
        error_(error),
        wall_ns_(replayed_ns),
        least_pct_(all ? 0 : kWorthPct) {}

  void run(Candidates& candidates, Suggestions& into) {
    base::Progress progress("trying changes", candidates.size());
    std::vector<Tried> tried;
    for (Candidate& candidate : candidates) {
      if (!candidate.edit) continue;
      if (!is_worth(candidate.concerns_ns)) {  // and so no gain can be
        ++into.left_out;
        continue;
      }
      const std::int64_t alone = gain_of(candidate, Effort::mid, {}, unchanged_ns_);
      tried.push_back({&candidate, alone, alone});
      progress.advance(1);
    }
    while (!tried.empty()) {
      const auto best = best_of(tried);
      if (!shows(best->known_ns)) break;
      into.list.push_back(take(*best));
      tried.erase(best);
    }
    std::stable_sort(
        into.list.begin(), into.list.end(),
        [](const Suggestion& a, const Suggestion& b) { return a.gain_pct > b.gain_pct; });
    take_after_others(tried, into);
    take_rest(tried, into);
  }

 private:
  bool is_worth(std::int64_t ns) const { return ns > 0 && facts_.share(ns) >= least_pct_; }
  bool shows(std::int64_t ns) const { return ns > 0 && facts_.share(ns) >= kWorthPct; }

  // What it brings can only become less as others are taken; so the best is known as soon as one
  // that was replayed after all of them brings more than any other may.
  std::vector<Tried>::iterator best_of(std::vector<Tried>& tried) {
    const auto by_gain = [&](const Tried& a, const Tried& b) {
      const auto key = [&](const Tried& one) {
        return std::pair(one.candidate->comes_first && is_worth(one.known_ns), one.known_ns);
      };
      return key(a) < key(b);
    };
    for (std::size_t i = 0;; ++i) {
      const auto best = std::max_element(tried.begin(), tried.end(), by_gain);
      if (taken_ == 0 || !shows(best->known_ns)) return best;
      const std::int64_t adds = gain_of(*best->candidate, Effort::mid, taken_edits_, wall_ns_);
      if (adds >= best->known_ns || i > tried.size()) return best;
      best->known_ns = adds;
    }
  }

  // What brings little by itself may bring much now.
  void take_after_others(std::vector<Tried>& tried, Suggestions& into) {
    const auto by_gain = [](const auto& a, const auto& b) { return a.second < b.second; };
    while (taken_ > 0 && !tried.empty()) {
      std::vector<std::pair<std::size_t, std::int64_t>> adds;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        adds.emplace_back(i, gain_of(*tried[i].candidate, Effort::mid, taken_edits_, wall_ns_));
      }
      const auto [best, gain] = *std::max_element(adds.begin(), adds.end(), by_gain);
      if (!shows(gain)) return;
      into.list.push_back(take_now(*tried[best].candidate, gain));
      tried.erase(tried.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }

  // Those that bring less than what shows, if they are asked for.
  void take_rest(std::vector<Tried>& tried, Suggestions& into) {
    const auto before = static_cast<std::ptrdiff_t>(into.list.size());
    for (; !tried.empty(); tried.erase(tried.begin())) {
      const auto best =
          std::max_element(tried.begin(), tried.end(),
                           [](const Tried& a, const Tried& b) { return a.known_ns < b.known_ns; });
      std::iter_swap(tried.begin(), best);
      Tried& one = tried.front();
      const std::int64_t adds = gain_of(*one.candidate, Effort::mid, taken_edits_, wall_ns_);
      one.known_ns = std::min(one.known_ns, adds);
      if (is_worth(one.known_ns)) {
        into.list.push_back(take(one));
      } else {
        ++into.left_out;
      }
    }
    std::stable_sort(into.list.begin() + before, into.list.end(),
                     [](const auto& a, const auto& b) { return a.gain_pct > b.gain_pct; });
  }

  std::int64_t gain_of(const Candidate& candidate, Effort effort, Edits edits,
                       std::int64_t from_ns) const {
    candidate.edit(edits, effort);
    const std::int64_t gain = from_ns - replay(facts_.plan, edits).wall_ns;
    return std::clamp<std::int64_t>(gain, 0, std::min(candidate.concerns_ns, facts_.wall_ns));
  }

  // What another effort brings, by itself; less as the gain is less after those taken.
  std::int64_t gain_of_effort(const Tried& best, Effort effort) const {
    const std::int64_t alone = gain_of(*best.candidate, effort, {}, unchanged_ns_);
    const double left = static_cast<double>(best.known_ns) / static_cast<double>(best.alone_ns);
    return static_cast<std::int64_t>(static_cast<double>(alone) * left);
  }

  Suggestion take(const Tried& best) {
    Gain gain;
    gain.mid_ns = best.known_ns;
    gain.low_ns = std::min(gain.mid_ns, gain_of_effort(best, Effort::low));
    gain.high_ns = std::max(gain.mid_ns, gain_of_effort(best, Effort::high));
    return with_gain(*best.candidate, gain, "");
  }

  Suggestion take_now(const Candidate& candidate, std::int64_t mid_ns) {
    Gain gain;
    gain.mid_ns = mid_ns;
    const auto adds = [&](Effort effort) {
      return gain_of(candidate, effort, taken_edits_, wall_ns_);
    };
    gain.low_ns = std::min(gain.mid_ns, adds(Effort::low));
    gain.high_ns = std::max(gain.mid_ns, adds(Effort::high));
    Suggestion found = with_gain(candidate, gain, " once the changes above are made");
    found.is_after_others = true;
    return found;
  }

  Suggestion with_gain(const Candidate& candidate, const Gain& gain, std::string_view when) {
    candidate.edit(taken_edits_, Effort::mid);
    wall_ns_ = replay(facts_.plan, taken_edits_).wall_ns;
    ++taken_;

    Suggestion found = candidate.words;
    found.basis = GainBasis::replay;
    found.gain = gain;
    found.gain_pct = facts_.share(gain.mid_ns);
    found.is_rough = error_ > kTrustedError;
    found.priority = priority_of(found.gain_pct);
    const double now = static_cast<double>(facts_.wall_ns) / 1e6;
    found.current_time_ms = now;
    found.estimated_time_ms = now - static_cast<double>(gain.mid_ns) / 1e6;
    if (*found.estimated_time_ms > 0) found.potential_speedup = now / *found.estimated_time_ms;
    found.expected_improvement = words_of(gain, found.gain_pct, candidate.supposes, when);
    return found;
  }

  std::string words_of(const Gain& gain, double gain_pct, const std::string& supposes,
                       std::string_view when) const {
    std::string text = fmt::format("Saves {}{}", base::format_percent(gain_pct), when);
    const std::string low = fmt::format("{:.1f}", facts_.share(gain.low_ns));
    const std::string high = fmt::format("{:.1f}", facts_.share(gain.high_ns));
    if (low != high) {
      text += fmt::format(" ({}–{} %, depending on how well it is done)", low, high);
    }
    text += fmt::format(": {} of the run, {}.", base::format_duration(gain.mid_ns), supposes);
    if (error_ <= kTrustedError) return text;
    return text + fmt::format(" Rough: the replay is off by {}.", rough_text(error_));
  }

  const Facts& facts_;
  const std::int64_t unchanged_ns_;
  const double error_;  // of the replay without any change
  Edits taken_edits_;
  std::int64_t wall_ns_;
  double least_pct_;
  std::size_t taken_ = 0;
};

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
    found.current_time_ms = static_cast<double>(facts.wall_ns) / 1e6;
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
                        const analyze::Wall& wall, bool all, Suggestions& found) {
  const ReplayPlan plan = plan_replay(trace, on, base::unite(wall.set_up, wall.unknown));
  if (plan.measured_ns == 0) {
    found.why_no_gains = "Nothing in this file took any time.";
    return;
  }
  const Facts facts(trace, plan, wall);
  found.run_ms = static_cast<double>(facts.wall_ns) / 1e6;
  Candidates candidates = candidates_of(facts);
  const Replay unchanged = replay(plan);
  const std::int64_t replayed_ns = unchanged.wall_ns;
  found.measured_ms = static_cast<double>(plan.measured_ns) / 1e6;
  found.replayed_ms = static_cast<double>(replayed_ns) / 1e6;
  const double error = replay_error(plan, unchanged);
  found.replay_error_pct = error * 100;
  found.has_gains = error <= kRoughError;
  found.is_rough = found.has_gains && error > kTrustedError;
  if (found.has_gains) {
    Attribution(facts, replayed_ns, error, all).run(candidates, found);
  } else {
    found.why_no_gains = why_not(plan.measured_ns, replayed_ns);
  }
  add_without_gain(facts, candidates, !found.has_gains, all, found);
}

// The whole of a profile: what its outermost operations took, as far as that is known.
double profile_ns(const trace::Trace& trace) {
  double total = 0;
  for (const NamedFigures& operation : trace.operations) {
    total += operation.self_ns.value_or(operation.total_ns.value_or(0));
  }
  return total;
}

void suggest_from_profile(const trace::Trace& trace, bool all, Suggestions& found) {
  const double whole = profile_ns(trace);
  found.measured_ms = whole / 1e6;
  found.run_ms = found.measured_ms;
  found.why_no_gains =
      "This file has the times of operations but not what waited for what: estimates are upper "
      "bounds, the most an operation could save.";
  for (Suggestion& one : rule_operations(trace)) {
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

Suggestions suggest(const trace::Trace& trace, bool all) {
  return suggest(trace, analyze::dependencies(trace), analyze::wall(trace), all);
}

Suggestions suggest(const trace::Trace& trace, const analyze::Dependencies& on,
                    const analyze::Wall& wall, bool all) {
  Suggestions found;
  if (on.gpu.rows.empty() && !trace.operations.empty()) {
    suggest_from_profile(trace, all, found);
  } else {
    suggest_from_trace(trace, on, wall, all, found);
  }
  for (Suggestion& one : found.list) take_code_apart(one);
  if (all) found.left_out = 0;  // but for what brings nothing, which is no suggestion
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
