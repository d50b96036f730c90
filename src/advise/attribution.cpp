#include "advise/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <tuple>
#include <utility>

#include "advise/replay.h"
#include "base/format.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace fathom::advise {
namespace {

constexpr unsigned kReplayThreads = 2;

// "6 %".
std::string rough_text(double error) {
  return fmt::format("{:.0f} %", error * 100);
}

// A change that was replayed by itself, and what it brought.
struct Tried {
  Candidate* candidate = nullptr;
  std::int64_t alone_ns = 0;
  std::int64_t known_ns = 0;  // the least it was seen to bring so far, alone or after others
  // The last replay of it: after how many others, how long the run was, what that brought.
  std::size_t after = 0;
  std::int64_t wall_ns = 0;
  std::int64_t adds_ns = 0;
};

// What a change brings if it is made half-heartedly, and as well as possible.
struct Range {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
};

// A change that is suggested.
struct Taken {
  const Candidate* candidate = nullptr;
  std::int64_t gain_ns = 0;
  double gain_pct = 0;
  std::shared_future<Range> range;  // by itself; without `left`, after all that were taken before
  std::optional<double> left;       // of what it brings by itself, what it brings after others
  std::string_view when;
};

// Takes the changes one by one, that which brings most first, guesses after all others. Last come
// those that bring nothing by themselves but something once the others are made: a faster GPU where
// the host was what held the run up.
class Attribution {
 public:
  Attribution(const Facts& facts, const AttributionOptions& options)
      : facts_(facts),
        unchanged_ns_(options.replayed_ns),
        error_(options.error),
        wall_ns_(options.replayed_ns),
        least_pct_(options.all ? 0 : kWorthPct) {}

  void run(Candidates& candidates, Suggestions& into) {
    base::Progress progress("trying changes", candidates.size());
    std::vector<Tried> tried;
    for (Candidate& candidate : candidates) {
      if (!candidate.edit) continue;
      if (!is_worth(candidate.concerns_ns)) {  // and so no gain can be
        ++into.left_out;
        continue;
      }
      tried.push_back({&candidate});
    }
    base::in_parallel(kReplayThreads, tried.size(), [&](std::size_t i) {
      Tried& one = tried[i];
      one.wall_ns = wall_with(*one.candidate, Effort::mid, {});
      one.alone_ns = gain_of(*one.candidate, unchanged_ns_ - one.wall_ns);
      one.known_ns = one.adds_ns = one.alone_ns;
      progress.advance(1);
    });
    while (!tried.empty()) {
      const auto best = best_of(tried);
      if (!shows(best->known_ns)) break;
      take(*best);
      tried.erase(best);
    }
    sort_taken(0);
    take_after_others(tried);
    take_rest(tried, into.left_out);
    for (Taken& one : taken_list_) into.list.push_back(suggestion_of(one));
  }

 private:
  bool is_worth(std::int64_t ns) const { return ns > 0 && facts_.share(ns) >= least_pct_; }
  bool shows(std::int64_t ns) const { return ns > 0 && facts_.share(ns) >= kWorthPct; }

  // What it brings can only become less as others are taken; so the best is known as soon as one
  // that was replayed after all of them brings more than any other may.
  std::vector<Tried>::iterator best_of(std::vector<Tried>& tried) {
    const auto by_gain = [&](const Tried& a, const Tried& b) {
      const auto key = [&](const Tried& one) {
        const Candidate& candidate = *one.candidate;
        return std::tuple(candidate.comes_first && is_worth(one.known_ns),
                          !candidate.is_a_guess && shows(one.known_ns), one.known_ns);
      };
      return key(a) < key(b);
    };
    for (std::size_t i = 0;; ++i) {
      const auto best = std::max_element(tried.begin(), tried.end(), by_gain);
      if (taken_ == 0 || !shows(best->known_ns)) return best;
      const std::int64_t adds = adds_now(*best);
      if (adds >= best->known_ns || i > tried.size()) return best;
      best->known_ns = adds;
    }
  }

  // What brings little by itself may bring much now.
  void take_after_others(std::vector<Tried>& tried) {
    const auto by_gain = [](const Tried& a, const Tried& b) { return a.adds_ns < b.adds_ns; };
    while (taken_ > 0 && !tried.empty()) {
      base::in_parallel(kReplayThreads, tried.size(), [&](std::size_t i) { adds_now(tried[i]); });
      const auto best = std::max_element(tried.begin(), tried.end(), by_gain);
      if (!shows(best->adds_ns)) return;
      take_now(*best);
      tried.erase(best);
    }
  }

  // Those that bring less than what shows, if they are asked for.
  void take_rest(std::vector<Tried>& tried, std::size_t& left_out) {
    const std::size_t before = taken_list_.size();
    for (; !tried.empty(); tried.erase(tried.begin())) {
      const auto best =
          std::max_element(tried.begin(), tried.end(),
                           [](const Tried& a, const Tried& b) { return a.known_ns < b.known_ns; });
      std::iter_swap(tried.begin(), best);
      Tried& one = tried.front();
      one.known_ns = std::min(one.known_ns, adds_now(one));
      if (is_worth(one.known_ns)) {
        take(one);
      } else {
        ++left_out;
      }
    }
    sort_taken(before);
  }

  void sort_taken(std::size_t first) {
    const auto comes_before = [](const Taken& a, const Taken& b) {
      const bool a_guess = a.candidate->is_a_guess;
      const bool b_guess = b.candidate->is_a_guess;
      return a_guess != b_guess ? b_guess : a.gain_pct > b.gain_pct;
    };
    std::stable_sort(taken_list_.begin() + static_cast<std::ptrdiff_t>(first), taken_list_.end(),
                     comes_before);
  }

  std::int64_t wall_with(const Candidate& candidate, Effort effort, Edits edits) const {
    candidate.edit(edits, effort);
    return replay(facts_.plan, edits).wall_ns;
  }

  std::int64_t gain_of(const Candidate& candidate, std::int64_t shorter_ns) const {
    return std::clamp<std::int64_t>(shorter_ns, 0, std::min(candidate.concerns_ns, facts_.wall_ns));
  }

  // What it brings after all that are taken.
  std::int64_t adds_now(Tried& one) const {
    if (one.after == taken_) return one.adds_ns;
    one.after = taken_;
    one.wall_ns = wall_with(*one.candidate, Effort::mid, taken_edits_);
    one.adds_ns = gain_of(*one.candidate, wall_ns_ - one.wall_ns);
    return one.adds_ns;
  }

  // The least and the most that come of it, after edits that leave a run of `from_ns`.
  Range low_and_high(const Candidate& candidate, const Edits& edits, std::int64_t from_ns) const {
    const auto gain = [&](Effort effort) {
      return gain_of(candidate, from_ns - wall_with(candidate, effort, edits));
    };
    return {gain(Effort::low), gain(Effort::high)};
  }

  // Other efforts are tried by themselves; they bring less as the gain is less after those taken.
  // Nothing else waits for them: they are replayed beside what is tried next, one after another.
  void take(const Tried& best) {
    Taken& one = with_gain(best, best.known_ns);
    one.left = static_cast<double>(best.known_ns) / static_cast<double>(best.alone_ns);
    last_range_ =
        std::async(std::launch::async, [this, candidate = best.candidate, before = last_range_] {
          if (before.valid()) before.wait();
          return low_and_high(*candidate, {}, unchanged_ns_);
        }).share();
    one.range = last_range_;
  }

  void take_now(const Tried& best) {
    std::promise<Range> range;
    range.set_value(low_and_high(*best.candidate, taken_edits_, wall_ns_));
    Taken& one = with_gain(best, best.adds_ns);
    one.range = range.get_future().share();
    one.when = " once the changes above are made";
  }

  // `best` was replayed after all that are taken.
  Taken& with_gain(const Tried& best, std::int64_t gain_ns) {
    best.candidate->edit(taken_edits_, Effort::mid);
    wall_ns_ = best.wall_ns;
    ++taken_;
    Taken& one = taken_list_.emplace_back();
    one.candidate = best.candidate;
    one.gain_ns = gain_ns;
    one.gain_pct = facts_.share(gain_ns);
    return one;
  }

  Suggestion suggestion_of(const Taken& one) const {
    const auto after_others = [&](std::int64_t alone) {
      return one.left ? static_cast<std::int64_t>(static_cast<double>(alone) * *one.left) : alone;
    };
    const Range range = one.range.get();
    const Gain gain = {std::min(one.gain_ns, after_others(range.low_ns)), one.gain_ns,
                       std::max(one.gain_ns, after_others(range.high_ns))};
    Suggestion found = one.candidate->words;
    found.basis = GainBasis::replay;
    found.gain = gain;
    found.gain_pct = one.gain_pct;
    found.is_rough = error_ > kTrustedError;
    found.is_after_others = !one.left;
    found.priority = priority_of(found.gain_pct);
    found.current_ns = static_cast<double>(facts_.wall_ns);
    found.estimated_ns = static_cast<double>(facts_.wall_ns - gain.mid_ns);
    if (*found.estimated_ns > 0) found.potential_speedup = found.current_ns / *found.estimated_ns;
    found.expected_improvement = words_of(gain, found.gain_pct, one.candidate->supposes, one.when);
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
  std::vector<Taken> taken_list_;
  std::shared_future<Range> last_range_;
};

}  // namespace

void attribute_gains(const Facts& facts, Candidates& candidates, const AttributionOptions& options,
                     Suggestions& into) {
  Attribution(facts, options).run(candidates, into);
}

Priority priority_of(double gain_pct) {
  if (gain_pct >= 20) return Priority::critical;
  if (gain_pct >= 10) return Priority::high;
  return gain_pct >= 3 ? Priority::medium : Priority::low;
}

}  // namespace fathom::advise
