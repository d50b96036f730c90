#include "analyze/ranks/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/median.h"

namespace fathom::analyze {
namespace {

constexpr std::int64_t kNoticeableNs = 20'000;
constexpr std::int64_t kMostMissing = 1'000;
constexpr std::uint32_t kNoCollective = UINT32_MAX;

// The middle one; of an even number, the lower.
class Comparison {
 public:
  explicit Comparison(std::span<const RankRun> runs)
      : runs_(runs), clocks_(align_clocks(runs)), before_(runs.size(), kNoCollective) {}

  RankReport report() {
    for (std::size_t i = 0; i < runs_.size(); ++i) add_row(i);
    for (std::uint32_t i = 0; i < clocks_.collectives.size(); ++i) add_collective(i);
    sort_operations();
    find_stragglers();
    find_missing();
    report_.compute_imbalance_pct = imbalance();
    return std::move(report_);
  }

 private:
  using Member = SharedCollective::Member;

  const Collective& at(const Member& member) const {
    return runs_[member.run].collectives[member.collective];
  }
  std::int64_t offset(const Member& member) const {
    return clocks_.clocks[member.run].offset_ns.value_or(0);
  }
  std::int64_t arrival(const Member& member) const { return at(member).start_ns - offset(member); }

  void add_row(std::size_t index) {
    const RankRun& run = runs_[index];
    RankRow row;
    row.rank = run.rank;
    row.device = run.device;
    row.clock = clocks_.clocks[index];
    row.compute_ns = run.compute_ns;
    row.communication_ns = run.communication_ns;
    row.memory_ns = run.memory_ns;
    row.collectives = run.collectives.size();
    double steps = 0;
    for (const RankStep& step : run.steps) steps += static_cast<double>(step.duration_ns);
    if (!run.steps.empty()) row.mean_step_ns = steps / static_cast<double>(run.steps.size());
    report_.rows.push_back(row);
  }

  void add_collective(std::uint32_t index) {
    std::vector<Member> members = clocks_.collectives[index].members;
    std::stable_sort(members.begin(), members.end(),
                     [&](const Member& a, const Member& b) { return arrival(a) < arrival(b); });
    const Member& last = members.back();
    CollectiveSkew skew;
    skew.operation = operation_of(last);
    skew.members = static_cast<std::uint32_t>(members.size());
    skew.start_ns = arrival(members.front());
    skew.spread_ns = arrival(last) - skew.start_ns;
    std::int64_t end = INT64_MIN;
    std::int64_t residual = 0;
    for (const Member& member : members) {
      end = std::max(end, at(member).end_ns - offset(member));
      residual = std::max(residual, clocks_.clocks[member.run].residual_ns);
      ++report_.rows[member.run].shared;
      report_.rows[member.run].waited_ns += arrival(last) - arrival(member);
    }
    skew.exchange_ns = std::max<std::int64_t>(0, end - arrival(last));
    if (skew.spread_ns > std::max(kNoticeableNs, 2 * residual)) {
      skew.last = last.run;
      skew.late_ns = arrival(last) - arrival(members[members.size() - 2]);
      skew.cause = cause_of(members);
      RankRow& row = report_.rows[last.run];
      ++row.times_last;
      row.late_ns += skew.late_ns;
      ++row.causes[static_cast<std::size_t>(skew.cause)];
    }
    OperationSkew& operation = report_.operations[skew.operation];
    ++operation.count;
    operation.spread_sum_ns += skew.spread_ns;
    operation.spread_max_ns = std::max(operation.spread_max_ns, skew.spread_ns);
    operation.exchange_sum_ns += skew.exchange_ns;
    report_.collectives.push_back(skew);
    for (const Member& member : members) before_[member.run] = index;
  }

  std::uint32_t operation_of(const Member& member) {
    const CollectiveKey& key = runs_[member.run].keys[at(member).key];
    const auto [found, is_new] =
        operations_.try_emplace({key.operation, key.group}, report_.operations.size());
    if (is_new) report_.operations.push_back({key.operation, key.group, 0, 0, 0, 0});
    return static_cast<std::uint32_t>(found->second);
  }

  // How long each member computed since the last collective that all of them shared; empty where
  // there is none.
  std::vector<std::int64_t> computed(const std::vector<Member>& members) const {
    std::vector<std::int64_t> times;
    const std::uint32_t before = before_[members.back().run];
    if (before == kNoCollective) return times;
    for (const Member& member : members) {
      const auto& earlier = clocks_.collectives[before].members;
      const auto same = std::find_if(earlier.begin(), earlier.end(),
                                     [&](const Member& m) { return m.run == member.run; });
      if (before_[member.run] != before || same == earlier.end()) return {};
      times.push_back(at(member).computed_ns - at(*same).computed_ns);
    }
    return times;
  }

  // Half of what the last rank was later than the others must be explained. `members` are in order
  // of arrival.
  LateCause cause_of(const std::vector<Member>& members) const {
    std::vector<std::int64_t> arrivals;
    for (const Member& member : members) arrivals.push_back(arrival(member));
    const std::int64_t late = more_than_others(arrivals);
    const std::vector<std::int64_t> compute = computed(members);
    if (!compute.empty() && more_than_others(compute) * 2 >= late) return LateCause::compute;
    std::vector<std::int64_t> launched;
    for (const Member& member : members) {
      if (!at(member).launched_ns) return LateCause::unknown;
      launched.push_back(*at(member).launched_ns - offset(member));
    }
    return more_than_others(launched) * 2 >= late ? LateCause::host : LateCause::unknown;
  }

  // How much more the last of them has than the others have in the middle.
  static std::int64_t more_than_others(std::vector<std::int64_t> values) {
    const std::int64_t last = values.back();
    values.pop_back();
    return last - base::median(std::move(values));
  }

  void sort_operations() {
    std::vector<std::uint32_t> order(report_.operations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return report_.operations[a].spread_sum_ns > report_.operations[b].spread_sum_ns;
    });
    std::vector<OperationSkew> sorted;
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(report_.operations[order[i]]));
    }
    report_.operations = std::move(sorted);
    for (CollectiveSkew& skew : report_.collectives) skew.operation = place[skew.operation];
  }

  void find_stragglers() {
    for (std::uint32_t i = 0; i < report_.rows.size(); ++i) {
      if (report_.rows[i].times_last > 0) report_.stragglers.push_back(i);
    }
    std::stable_sort(report_.stragglers.begin(), report_.stragglers.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return report_.rows[a].late_ns > report_.rows[b].late_ns;
                     });
  }

  void find_missing() {
    std::set<std::int64_t> present;
    for (const RankRun& run : runs_) {
      if (run.world_size) {
        report_.world_size = std::max(report_.world_size.value_or(0), *run.world_size);
      }
      if (!run.rank) return;  // it may be any of them
      present.insert(*run.rank);
    }
    for (std::int64_t rank = 0; rank < report_.world_size.value_or(0); ++rank) {
      if (present.count(rank) != 0) continue;
      if (std::ssize(report_.missing) == kMostMissing) return;
      report_.missing.push_back(rank);
    }
  }

  std::optional<double> imbalance() const {
    if (runs_.size() < 2) return std::nullopt;
    const SharedCollective* first = nullptr;
    const SharedCollective* last = nullptr;
    for (const SharedCollective& one : clocks_.collectives) {
      if (one.members.size() != runs_.size()) continue;
      if (first == nullptr) first = &one;
      last = &one;
    }
    double slowest = 0;
    double sum = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const bool has_window = first != last;
      const auto compute = static_cast<double>(has_window ? at(last->members[i]).computed_ns -
                                                                at(first->members[i]).computed_ns
                                                          : runs_[i].compute_ns);
      slowest = std::max(slowest, compute);
      sum += compute;
    }
    if (sum <= 0) return std::nullopt;
    return (slowest / (sum / static_cast<double>(runs_.size())) - 1) * 100;
  }

  std::span<const RankRun> runs_;
  RankClocks clocks_;
  std::vector<std::uint32_t> before_;  // of each run: the last shared collective so far
  std::map<std::pair<std::string, std::string>, std::size_t> operations_;
  RankReport report_;
};

}  // namespace

RankReport compare_ranks(std::span<const RankRun> runs) {
  return Comparison(runs).report();
}

}  // namespace fathom::analyze
