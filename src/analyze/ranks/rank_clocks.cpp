#include "analyze/ranks/rank_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "base/median.h"

namespace fathom::analyze {
namespace {

constexpr std::int64_t kMaxShift = 8;
constexpr std::int64_t kAgreeNs = 100'000;
constexpr std::int64_t kSameNs = 1'000'000;
constexpr std::size_t kCredible = 4;         // at least a quarter of what could match does
constexpr std::size_t kMostVotes = 200'000;  // a long run says no more than its first thousands

using KeyOrder = std::tuple<std::string, std::string, std::optional<std::int64_t>>;

KeyOrder order_of(const CollectiveKey& key) {
  return {key.operation, key.group, key.elements};
}

// A collective that some of the ranks so far have taken part in, on the clock of the first.
struct KnownClock {
  std::int64_t end_ns = 0;
  SharedCollective shared;
};

struct Pair {
  std::uint32_t known = 0;  // indices into the list of its key and the rank's own
  std::uint32_t own = 0;
};

// The difference that most pairs agree on; of several, the smallest.
std::optional<std::int64_t> most_agreed(std::vector<std::int64_t> votes) {
  if (votes.empty()) return std::nullopt;
  std::sort(votes.begin(), votes.end());
  std::size_t best_count = 0;
  std::int64_t best = 0;
  for (std::size_t first = 0, last = 0; first < votes.size(); ++first) {
    while (last < votes.size() && votes[last] - votes[first] <= kAgreeNs) ++last;
    const std::int64_t middle = votes[first + (last - first - 1) / 2];
    const bool is_closer = last - first == best_count && std::abs(middle) < std::abs(best);
    if (last - first > best_count || is_closer) {
      best_count = last - first;
      best = middle;
    }
  }
  return best;
}

class Aligner {
 public:
  explicit Aligner(std::span<const RankRun> runs) : runs_(runs) {}

  RankClocks align() {
    RankClocks found;
    for (std::uint32_t run = 0; run < runs_.size(); ++run) found.clocks.push_back(add(run));
    std::vector<KnownClock> all;
    for (auto& [key, list] : known_) {
      for (KnownClock& one : list) {
        if (one.shared.members.size() > 1) all.push_back(std::move(one));
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const KnownClock& a, const KnownClock& b) { return a.end_ns < b.end_ns; });
    for (KnownClock& one : all) found.collectives.push_back(std::move(one.shared));
    return found;
  }

 private:
  using Own = std::map<KeyOrder, std::vector<std::uint32_t>>;

  const Collective& at(std::uint32_t run, std::uint32_t index) const {
    return runs_[run].collectives[index];
  }

  RankClock add(std::uint32_t run) {
    Own own;
    for (std::uint32_t i = 0; i < runs_[run].collectives.size(); ++i) {
      own[order_of(runs_[run].keys[at(run, i).key])].push_back(i);
    }
    RankClock clock;
    if (run == 0) clock.offset_ns = 0;
    if (const auto rough = most_agreed(votes(run, own))) clock = refine(run, own, *rough);
    join(run, own, clock);
    return clock;
  }

  std::vector<std::int64_t> votes(std::uint32_t run, const Own& own) const {
    std::vector<std::int64_t> found;
    for (const auto& [key, list] : own) {
      const auto known = known_.find(key);
      if (known == known_.end()) continue;
      for (std::int64_t i = 0; i < std::ssize(list) && found.size() < kMostVotes; ++i) {
        const std::int64_t from = std::max<std::int64_t>(0, i - kMaxShift);
        const std::int64_t to = std::min(std::ssize(known->second) - 1, i + kMaxShift);
        for (std::int64_t j = from; j <= to; ++j) {
          found.push_back(at(run, list[static_cast<std::size_t>(i)]).end_ns -
                          known->second[static_cast<std::size_t>(j)].end_ns);
        }
      }
    }
    return found;
  }

  // Pairs of one key that end together, in order: neither is used twice.
  std::vector<Pair> pairs(std::uint32_t run, const std::vector<std::uint32_t>& own,
                          const std::vector<KnownClock>& known, std::int64_t offset) const {
    const auto distance = [&](std::size_t i, std::size_t j) {
      return std::abs(at(run, own[i]).end_ns - offset - known[j].end_ns);
    };
    std::vector<Pair> found;
    for (std::size_t i = 0, j = 0; i < own.size() && j < known.size();) {
      if (distance(i, j) <= kSameNs) {
        // The nearest of those that come next on either side.
        if (j + 1 < known.size() && distance(i, j + 1) < distance(i, j)) {
          ++j;
        } else if (i + 1 < own.size() && distance(i + 1, j) < distance(i, j)) {
          ++i;
        } else {
          found.push_back({static_cast<std::uint32_t>(j++), static_cast<std::uint32_t>(i++)});
        }
      } else if (at(run, own[i]).end_ns - offset < known[j].end_ns) {
        ++i;
      } else {
        ++j;
      }
    }
    return found;
  }

  RankClock refine(std::uint32_t run, const Own& own, std::int64_t rough) const {
    std::vector<std::int64_t> differences;
    std::size_t comparable = 0;
    for (const auto& [key, list] : own) {
      const auto known = known_.find(key);
      if (known == known_.end()) continue;
      comparable += std::min(list.size(), known->second.size());
      for (const Pair& pair : pairs(run, list, known->second, rough)) {
        differences.push_back(at(run, list[pair.own]).end_ns - known->second[pair.known].end_ns);
      }
    }
    RankClock clock;
    if (differences.empty()) return clock;
    const std::int64_t offset = base::median(differences);
    std::size_t agree = 0;
    for (std::int64_t& difference : differences) {
      difference = std::abs(difference - offset);
      if (difference <= kAgreeNs) ++agree;
    }
    if (agree * kCredible < comparable) return clock;
    clock.offset_ns = offset;
    clock.matched = differences.size();
    clock.residual_ns = base::median(std::move(differences));
    return clock;
  }

  // Its collectives join those known; new ones wait for the ranks to come.
  void join(std::uint32_t run, const Own& own, const RankClock& clock) {
    const std::int64_t offset = clock.offset_ns.value_or(0);
    for (const auto& [key, list] : own) {
      std::vector<KnownClock>& known = known_[key];
      std::vector<bool> is_paired(list.size());
      if (clock.offset_ns) {
        for (const Pair& pair : pairs(run, list, known, offset)) {
          known[pair.known].shared.members.push_back({run, list[pair.own]});
          is_paired[pair.own] = true;
        }
      }
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (!is_paired[i]) known.push_back({at(run, list[i]).end_ns - offset, {{{run, list[i]}}}});
      }
      std::stable_sort(known.begin(), known.end(), [](const KnownClock& a, const KnownClock& b) {
        return a.end_ns < b.end_ns;
      });
    }
  }

  std::span<const RankRun> runs_;
  std::map<KeyOrder, std::vector<KnownClock>> known_;
};

}  // namespace

RankClocks align_clocks(std::span<const RankRun> runs) {
  return Aligner(runs).align();
}

}  // namespace fathom::analyze
