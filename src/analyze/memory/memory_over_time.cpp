#include "analyze/memory/memory_over_time.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "analyze/memory/memory_places.h"
#include "analyze/memory/memory_roles.h"
#include "analyze/memory/unused_memory.h"

namespace fathom::analyze {
namespace {

constexpr std::size_t kStretches = 400;
constexpr std::size_t kMostOwners = 9;  // with a line of their own: more colours nobody tells apart
constexpr std::size_t kMostBlocks = 100'000;

std::vector<std::size_t> moments_of(const Memory& memory, const DeviceMemory& device) {
  const double stretch =
      std::max(1.0, static_cast<double>(memory.end_ns - memory.begin_ns) / kStretches);
  const auto stretch_of = [&](std::size_t level) {
    const std::int64_t since = device.levels[level].time_ns - memory.begin_ns;
    return static_cast<std::size_t>(static_cast<double>(since) / stretch);
  };
  std::vector<std::size_t> moments = {0};
  const std::size_t count = device.levels.size();
  for (std::size_t i = 1; i < count;) {
    std::size_t highest = i;
    std::size_t end = i + 1;
    for (; end < count && stretch_of(end) == stretch_of(i); ++end) {
      if (device.levels[end].allocated > device.levels[highest].allocated) highest = end;
    }
    moments.push_back(highest);
    if (highest + 1 != end) moments.push_back(end - 1);
    i = end;
  }
  return moments;
}

// Sums of bytes at moments, from what comes and goes at levels.
class Sums {
 public:
  explicit Sums(const std::vector<std::size_t>& moments) : moments_(&moments) {}

  void add(const MemoryBlock& block, std::vector<std::int64_t>& changes) const {
    const std::size_t from = moment_of(block.from);
    const std::size_t to = moment_of(block.to);
    if (from == to) return;
    if (changes.empty()) changes.resize(moments_->size());
    changes[from] += block.bytes;
    if (to < changes.size()) changes[to] -= block.bytes;
  }
  std::vector<std::int64_t> totals(std::vector<std::int64_t> changes) const {
    changes.resize(moments_->size());
    std::partial_sum(changes.begin(), changes.end(), changes.begin());
    return changes;
  }

  // The first moment at a level or after it.
  std::size_t moment_of(std::size_t level) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(*moments_, level) - moments_->begin());
  }

 private:
  const std::vector<std::size_t>* moments_;
};

using Place = std::pair<std::string_view, std::string_view>;

// Who allocated each block; older ones by what the source knows of them.
std::vector<Place> places_of(const trace::Trace& trace, const DeviceMemory& device) {
  std::vector<std::uint32_t> events;
  for (const MemoryBlock& block : device.blocks) {
    if (!block.is_older) events.push_back(block.index);
  }
  const std::vector<MemoryPlace> places = memory_places(trace, events);
  std::vector<Place> found;
  std::size_t next = 0;
  for (const MemoryBlock& block : device.blocks) {
    if (block.is_older) {
      found.push_back({{}, trace.names.view(trace.allocator.older[block.index].site)});
    } else {
      found.push_back({places[next].scope, places[next].call});
      ++next;
    }
  }
  return found;
}

bool is_nobodys(const trace::Trace& trace, const MemoryBlock& block) {
  return block.is_older && trace.allocator.older[block.index].site == 0;
}

struct OwnerBytes {
  Place place;
  std::vector<std::int64_t> bytes;
  std::int64_t most = 0;
};

// By who allocated them, most at a moment first; and each block's number in that order.
std::vector<OwnerBytes> owners_of(const trace::Trace& trace, const DeviceMemory& device,
                                  const Sums& sums, std::vector<std::uint32_t>& owner_of_block) {
  const std::vector<Place> places = places_of(trace, device);
  std::map<Place, std::uint32_t> numbers;
  std::vector<OwnerBytes> owners;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_nobodys(trace, device.blocks[i])) {
      owner_of_block.push_back(MemoryOverTime::kOlder);
      continue;
    }
    const auto next = static_cast<std::uint32_t>(owners.size());
    const auto [at, is_new] = numbers.try_emplace(places[i], next);
    if (is_new) owners.push_back({places[i], {}, 0});
    owner_of_block.push_back(at->second);
    sums.add(device.blocks[i], owners[at->second].bytes);
  }
  std::vector<std::uint32_t> order(owners.size());
  std::iota(order.begin(), order.end(), 0U);
  for (OwnerBytes& owner : owners) {
    if (owner.bytes.empty()) continue;
    owner.bytes = sums.totals(std::move(owner.bytes));
    owner.most = *std::ranges::max_element(owner.bytes);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::uint32_t at) { return owners[at].most; });
  std::vector<std::uint32_t> rank(order.size());
  std::vector<OwnerBytes> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    sorted.push_back(std::move(owners[order[i]]));
  }
  for (std::uint32_t& owner : owner_of_block) {
    if (owner != MemoryOverTime::kOlder) owner = rank[owner];
  }
  return sorted;
}

void add_roles(const DeviceMemory& device, const std::vector<MemoryRole>& roles, const Sums& sums,
               MemoryOverTime& found) {
  for (std::size_t role = 0; role < kMemoryRoles; ++role) {
    std::vector<std::int64_t> changes;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (static_cast<std::size_t>(roles[i]) == role) sums.add(device.blocks[i], changes);
    }
    if (changes.empty()) continue;
    found.of_roles.push_back({static_cast<MemoryRole>(role), sums.totals(std::move(changes))});
  }
}

void add_unused(const trace::Trace& trace, const DeviceMemory& device, MemoryOverTime& found) {
  MemoryOverTime::Unused unused;
  for (const std::optional<UnusedAt>& at : unused_at(trace, device, found.moments)) {
    // A segment may come a moment after the event that says so: as before, then.
    const bool is_first = unused.holes.empty();
    if (!at && is_first) return;
    unused.free_segments.push_back(at ? at->free_segment_bytes : unused.free_segments.back());
    unused.holes.push_back(at ? at->hole_bytes : unused.holes.back());
  }
  if (!unused.holes.empty()) found.unused = std::move(unused);
}

void add_spare(const DeviceMemory& device, MemoryOverTime& found) {
  bool is_known = false;
  for (const std::size_t at : found.moments) {
    const MemoryLevel& level = device.levels[at];
    std::optional<std::int64_t>& spare = found.spare.emplace_back();
    if (level.reserved) spare = std::max<std::int64_t>(0, *level.reserved - level.allocated);
    is_known = is_known || spare.has_value();
  }
  if (!is_known) found.spare.clear();
}

void add_blocks(const trace::Trace& trace, const DeviceMemory& device,
                const std::vector<std::uint32_t>& owners, const std::vector<MemoryRole>& roles,
                const Sums& sums, MemoryOverTime& found) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t at = 0; at < device.blocks.size(); ++at) {
    const MemoryBlock& block = device.blocks[at];
    if (sums.moment_of(block.from) != sums.moment_of(block.to)) kept.push_back(at);
  }
  if (kept.size() > kMostBlocks) {
    std::ranges::stable_sort(kept, std::greater(),
                             [&](std::uint32_t at) { return device.blocks[at].bytes; });
    found.left_out_blocks = kept.size() - kMostBlocks;
    kept.resize(kMostBlocks);
    std::ranges::sort(kept);
  }
  for (const std::uint32_t at : kept) {
    const MemoryBlock& block = device.blocks[at];
    MemoryOverTime::Block row;
    row.owner = owners[at];
    row.stack =
        block.is_older ? trace.allocator.older[block.index].stack : trace.memory[block.index].stack;
    row.bytes = block.bytes;
    row.from = sums.moment_of(block.from);
    if (block.to != MemoryBlock::kToTheEnd) row.to = sums.moment_of(block.to);
    if (!roles.empty()) row.role = roles[at];
    found.blocks.push_back(row);
  }
}

}  // namespace

MemoryOverTime memory_over_time(const trace::Trace& trace, const Memory& memory,
                                const DeviceMemory& device) {
  MemoryOverTime found;
  found.moments = moments_of(memory, device);
  const Sums sums(found.moments);
  std::vector<std::uint32_t> owner_of_block;
  std::vector<OwnerBytes> owners = owners_of(trace, device, sums, owner_of_block);
  const std::size_t count = found.moments.size();
  found.of_others.resize(count);
  for (const std::size_t level : found.moments)
    found.older.push_back(device.levels[level].allocated);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    OwnerBytes& owner = owners[i];
    found.owners.push_back({std::string(owner.place.first), std::string(owner.place.second)});
    owner.bytes.resize(count);
    const bool is_own = i < kMostOwners;
    for (std::size_t at = 0; at < count; ++at) {
      found.older[at] -= owner.bytes[at];
      if (!is_own) found.of_others[at] += owner.bytes[at];
    }
    if (is_own) found.of_owners.push_back(std::move(owner.bytes));
  }
  for (std::int64_t& bytes : found.older) bytes = std::max<std::int64_t>(0, bytes);
  const std::vector<MemoryRole> roles = memory_roles(trace, device);
  add_roles(device, roles, sums, found);
  add_unused(trace, device, found);
  if (!found.unused) add_spare(device, found);
  add_blocks(trace, device, owner_of_block, roles, sums, found);
  return found;
}

}  // namespace fathom::analyze
