#include "analyze/memory/memory_roles.h"

#include <algorithm>
#include <array>

#include "base/interval_set.h"
#include "trace/framework_names.h"

namespace fathom::analyze {
namespace {

// [begin, end) of spans whose name begins so.
base::IntervalSet times_of(const trace::Trace& trace, std::string_view prefix) {
  std::vector<char> is_one(trace.names.size());
  bool has_one = false;
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    is_one[name] = trace.names.view(name).starts_with(prefix) ? 1 : 0;
    has_one = has_one || is_one[name] != 0;
  }
  std::vector<base::Interval> times;
  for (trace::SpanId id = 0; has_one && id < trace.spans.size(); ++id) {
    if (is_one[trace.spans.name[id]] == 0) continue;
    times.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
  }
  return base::normalize(std::move(times));
}

// The interval that holds a time, null where none does.
const base::Interval* around(const base::IntervalSet& set, std::int64_t time_ns) {
  const auto after = std::upper_bound(
      set.begin(), set.end(), time_ns,
      [](std::int64_t time, const base::Interval& each) { return time < each.begin; });
  if (after == set.begin() || (after - 1)->end <= time_ns) return nullptr;
  return &*(after - 1);
}

class RoleFinder {
 public:
  RoleFinder(const trace::Trace& trace, const DeviceMemory& device)
      : trace_(trace),
        device_(device),
        steps_(times_of(trace, trace::kOptimizerStep)),
        calls_(times_of(trace, trace::kBackwardNode)) {
    find_backwards();
  }

  bool knows_anything() const {
    return !steps_.empty() || !backwards_.empty() ||
           std::ranges::any_of(device_.blocks, &MemoryBlock::is_older);
  }

  MemoryRole role(const MemoryBlock& block) const {
    if (block.is_older) return role_of_older(block);
    const std::int64_t begin = time(block.from);
    if (const base::Interval* const step = around(steps_, begin)) {
      return lives_to(block, step->end) ? MemoryRole::optimizer : MemoryRole::temporary;
    }
    if (const base::Interval* const backward = around(backwards_, begin)) {
      return lives_to(block, backward->end) ? MemoryRole::gradients : MemoryRole::temporary;
    }
    if (!is_freed(block)) return MemoryRole::other;
    if (around(backwards_, time(block.to)) != nullptr) return MemoryRole::activations;
    return MemoryRole::temporary;
  }

 private:
  std::int64_t time(std::size_t level) const { return device_.levels[level].time_ns; }
  static bool is_freed(const MemoryBlock& block) { return block.to != MemoryBlock::kToTheEnd; }
  bool lives_to(const MemoryBlock& block, std::int64_t time_ns) const {
    return !is_freed(block) || time(block.to) >= time_ns;
  }

  MemoryRole role_of_older(const MemoryBlock& block) const {
    if (!is_freed(block)) return MemoryRole::weights;
    if (around(steps_, time(block.to)) != nullptr) return MemoryRole::optimizer;
    if (around(backwards_, time(block.to)) != nullptr) return MemoryRole::activations;
    return MemoryRole::other;
  }

  bool is_backward(const MemoryBlock& block) const {
    const trace::StackId stack = trace_.memory[block.index].stack;
    if (stack != 0 && trace_.allocator.stacks[stack].is_backward) return true;
    return around(calls_, time(block.from)) != nullptr;
  }

  // A backward lasts from the first allocation that autograd makes to the next that it does not
  // make: what is freed in between was kept for it.
  void find_backwards() {
    std::vector<base::Interval> found;
    std::int64_t begin = 0;
    bool is_in_one = false;
    for (const MemoryBlock& block : device_.blocks) {
      if (block.is_older) continue;
      const bool is_in = is_backward(block);
      if (is_in && !is_in_one) begin = time(block.from);
      if (is_in_one && !is_in) found.push_back({begin, time(block.from)});
      is_in_one = is_in;
    }
    if (is_in_one) found.push_back({begin, device_.levels.back().time_ns + 1});
    backwards_ = base::subtract(base::normalize(std::move(found)), steps_);
  }

  const trace::Trace& trace_;
  const DeviceMemory& device_;
  base::IntervalSet steps_;
  base::IntervalSet calls_;
  base::IntervalSet backwards_;
};

}  // namespace

std::vector<MemoryRole> memory_roles(const trace::Trace& trace, const DeviceMemory& device) {
  const RoleFinder finder(trace, device);
  if (!finder.knows_anything()) return {};
  std::vector<MemoryRole> roles;
  roles.reserve(device.blocks.size());
  for (const MemoryBlock& block : device.blocks) roles.push_back(finder.role(block));
  return roles;
}

std::vector<RoleUse> role_uses(const DeviceMemory& device, const std::vector<MemoryRole>& roles,
                               std::size_t level) {
  std::array<RoleUse, kMemoryRoles> sums;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!device.blocks[i].alive_at(level)) continue;
    RoleUse& sum = sums.at(static_cast<std::size_t>(roles[i]));
    sum.bytes += device.blocks[i].bytes;
    ++sum.blocks;
  }
  std::vector<RoleUse> uses;
  for (std::size_t role = 0; role < sums.size(); ++role) {
    sums.at(role).role = static_cast<MemoryRole>(role);
    if (sums.at(role).bytes > 0) uses.push_back(sums.at(role));
  }
  std::ranges::stable_sort(uses,
                           [](const RoleUse& a, const RoleUse& b) { return a.bytes > b.bytes; });
  return uses;
}

std::string_view role_name(MemoryRole role) {
  constexpr std::array<std::string_view, kMemoryRoles> kNames = {
      "weights", "optimizer state", "gradients", "activations", "temporary", "other"};
  return kNames.at(static_cast<std::size_t>(role));
}

}  // namespace fathom::analyze
