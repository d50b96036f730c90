#include "analyze/memory/memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analyze/memory/memory_places.h"
#include "analyze/memory/memory_roles.h"
#include "analyze/memory/unused_memory.h"

namespace fathom::analyze {
namespace {

using trace::MemoryDevice;
using trace::MemoryEvent;

constexpr std::string_view kHostCounter = "host memory";  // as the launcher records them
constexpr std::string_view kHostPeak = "peak host memory";
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;  // more than any machine has: not true

bool is_credible(const MemoryEvent& event) {
  const auto fits = [](std::int64_t bytes) { return -kMostBytes < bytes && bytes < kMostBytes; };
  // What says only how much is reserved has neither bytes nor address.
  const bool tells = event.bytes != 0 || (event.total_reserved && !event.address);
  return tells && fits(event.bytes) && fits(event.total_allocated.value_or(0)) &&
         fits(event.total_reserved.value_or(0));
}

// Allocations of one process on one device.
struct Pool {
  std::unordered_map<std::uint64_t, std::size_t> alive;  // address → block
  std::int64_t sum = 0;                                  // of changes so far
  std::int64_t lowest = 0;                               // of the sums
  std::int64_t older = 0;                                // freed, and never seen allocated
  std::int64_t lowest_total = 0;
  std::optional<std::int64_t> first_level;  // that the first total tells
  std::int64_t level = 0;
  std::optional<std::int64_t> reserved;
};

std::vector<std::uint32_t> processes_of(const trace::Trace& trace) {
  std::map<std::pair<std::int64_t, std::string_view>, std::uint32_t> numbers;
  std::vector<std::uint32_t> processes;
  for (const trace::Track& track : trace.tracks) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    processes.push_back(numbers.try_emplace({track.pid, track.pid_text}, next).first->second);
  }
  return processes;
}

// Follows the events of one device in the order of time.
class Follower {
 public:
  Follower(const trace::Trace& trace, const std::vector<std::uint32_t>& processes,
           std::vector<std::uint32_t> events, std::int64_t begin_ns)
      : trace_(trace), processes_(processes), events_(std::move(events)) {
    std::stable_sort(events_.begin(), events_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return trace.memory[a].time_ns < trace.memory[b].time_ns;
    });
    begin_with_older();
    find_blocks();
    find_levels(begin_ns);
  }

  DeviceMemory found;

 private:
  void begin_with_older();
  void find_blocks();
  void find_levels(std::int64_t begin_ns);
  std::int64_t allocate(Pool& pool, std::uint32_t event, std::size_t level);
  std::int64_t free(Pool& pool, const MemoryEvent& event, std::size_t level);
  Pool& pool_of(const MemoryEvent& event) { return pools_[processes_[event.track]]; }

  const trace::Trace& trace_;
  const std::vector<std::uint32_t>& processes_;
  std::vector<std::uint32_t> events_;
  std::vector<std::int64_t> changes_;  // of the pool's level, by event
  std::unordered_map<std::uint32_t, Pool> pools_;
};

// Those that the source knows; it is one process then.
void Follower::begin_with_older() {
  if (events_.empty()) return;
  const MemoryEvent& first = trace_.memory[events_.front()];
  const std::vector<trace::OlderBlock>& older = trace_.allocator.older;
  for (std::uint32_t i = 0; i < older.size(); ++i) {
    if (older[i].device_index != first.device_index) continue;
    MemoryBlock block;
    block.index = i;
    block.process = processes_[first.track];
    block.bytes = older[i].bytes;
    block.is_older = true;
    pools_[block.process].alive[older[i].address] = found.blocks.size();
    found.blocks.push_back(block);
  }
}

std::int64_t Follower::allocate(Pool& pool, std::uint32_t event, std::size_t level) {
  const MemoryEvent& row = trace_.memory[event];
  ++found.allocations;
  found.allocated_bytes += row.bytes;
  if (!row.address) return row.bytes;
  std::int64_t change = row.bytes;
  const auto [at, is_new] = pool.alive.try_emplace(*row.address, found.blocks.size());
  if (!is_new) {
    ++found.unseen_frees;
    found.blocks[at->second].to = level;
    change -= found.blocks[at->second].bytes;
    at->second = found.blocks.size();
  }
  MemoryBlock block;
  block.index = event;
  block.process = processes_[row.track];
  block.bytes = row.bytes;
  block.from = level;
  found.blocks.push_back(block);
  return change;
}

std::int64_t Follower::free(Pool& pool, const MemoryEvent& event, std::size_t level) {
  ++found.frees;
  if (!event.address) return event.bytes;
  const auto known = pool.alive.find(*event.address);
  if (known == pool.alive.end()) {
    ++found.unknown_frees;
    pool.older -= event.bytes;
    return event.bytes;
  }
  MemoryBlock& block = found.blocks[known->second];
  if (block.is_older) ++found.unknown_frees;
  block.to = level;
  pool.alive.erase(known);
  return -block.bytes;
}

void Follower::find_blocks() {
  for (const std::uint32_t at : events_) {
    const MemoryEvent& event = trace_.memory[at];
    Pool& pool = pool_of(event);
    const std::size_t level = changes_.size() + 1;
    if (!event.address && event.bytes != 0) ++found.without_address;
    const std::int64_t change = event.bytes == 0  ? 0
                                : event.bytes > 0 ? allocate(pool, at, level)
                                                  : free(pool, event, level);
    changes_.push_back(change);
    pool.sum += change;
    pool.lowest = std::min(pool.lowest, pool.sum);
    if (!event.total_allocated) continue;
    pool.lowest_total = std::min(pool.lowest_total, *event.total_allocated);
    if (!pool.first_level) pool.first_level = *event.total_allocated - pool.sum;
  }
}

void Follower::find_levels(std::int64_t begin_ns) {
  MemoryLevel now{begin_ns, 0, {}};
  for (auto& [process, pool] : pools_) {
    pool.level = pool.first_level ? std::max<std::int64_t>(0, *pool.first_level - pool.lowest_total)
                                  : std::max(pool.older, -pool.lowest);
    now.allocated += pool.level;
  }
  found.levels.push_back(now);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const MemoryEvent& event = trace_.memory[events_[i]];
    Pool& pool = pool_of(event);
    const std::int64_t before = pool.level;
    pool.level =
        event.total_allocated ? *event.total_allocated - pool.lowest_total : before + changes_[i];
    now.time_ns = event.time_ns;
    now.allocated += pool.level - before;
    // Some sources say 0 where they do not know.
    if (event.total_reserved && (*event.total_reserved > 0 || pool.reserved)) {
      now.reserved = now.reserved.value_or(0) + *event.total_reserved - pool.reserved.value_or(0);
      pool.reserved = event.total_reserved;
    }
    found.levels.push_back(now);
    found.most_reserved = std::max(found.most_reserved, now.reserved);
    if (now.allocated > found.peak_bytes()) found.peak = i + 1;
  }
}

// Older blocks of which nobody knows who allocated them are what the level has beyond these.
std::vector<MemoryUse> uses_of(const trace::Trace& trace, const std::vector<MemoryBlock>& blocks,
                               std::size_t level) {
  std::vector<std::uint32_t> events;
  std::vector<std::int64_t> bytes;
  std::vector<std::pair<std::string_view, std::int64_t>> older;
  for (const MemoryBlock& block : blocks) {
    if (!block.alive_at(level)) continue;
    if (block.is_older) {
      const trace::NameId site = trace.allocator.older[block.index].site;
      if (site != 0) older.emplace_back(trace.names.view(site), block.bytes);
      continue;
    }
    events.push_back(block.index);
    bytes.push_back(block.bytes);
  }
  const std::vector<MemoryPlace> places = memory_places(trace, events);
  std::map<std::pair<std::string_view, std::string_view>, MemoryUse> by_place;
  for (std::size_t i = 0; i < places.size(); ++i) {
    MemoryUse& use = by_place[{places[i].scope, places[i].call}];
    use.bytes += bytes[i];
    ++use.blocks;
  }
  for (const auto& [site, size] : older) {
    MemoryUse& use = by_place[{{}, site}];
    use.bytes += size;
    ++use.blocks;
  }
  std::vector<MemoryUse> uses;
  for (auto& [place, use] : by_place) {
    use.scope = place.first;
    use.call = place.second;
    uses.push_back(std::move(use));
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const MemoryUse& a, const MemoryUse& b) { return a.bytes > b.bytes; });
  return uses;
}

void find_extent(const trace::Trace& trace, Memory& found) {
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  const auto take = [&](std::int64_t from, std::int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  };
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    take(trace.spans.start_ns[id], trace.spans.end_ns(id));
  }
  for (const MemoryEvent& event : trace.memory) take(event.time_ns, event.time_ns);
  for (const HostSample& sample : found.rss) take(sample.time_ns, sample.time_ns);
  if (trace.run.begin_ns && trace.run.end_ns) take(*trace.run.begin_ns, *trace.run.end_ns);
  if (begin > end) return;
  found.begin_ns = begin;
  found.end_ns = end;
}

void find_rss(const trace::Trace& trace, Memory& found) {
  for (const trace::Counter& counter : trace.counters) {
    const std::string_view name = trace.names.view(counter.name);
    if (name == kHostPeak && !counter.value.empty()) {
      found.kernel_peak_rss = static_cast<std::int64_t>(counter.value.back());
    }
    if (name != kHostCounter || !found.rss.empty()) continue;
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      found.rss.push_back({counter.time_ns[i], static_cast<std::int64_t>(counter.value[i])});
    }
  }
}

// GPUs, then devices of no known kind, then the CPU.
int rank_of(MemoryDevice device) {
  return device == MemoryDevice::gpu ? 0 : device == MemoryDevice::unknown ? 1 : 2;
}

}  // namespace

std::optional<std::int64_t> peak_rss(const Memory& memory) {
  std::optional<std::int64_t> most = memory.kernel_peak_rss;
  if (memory.rss.size() < 2) return most;
  for (const HostSample& sample : memory.rss) most = std::max(most.value_or(0), sample.bytes);
  return most;
}

Memory memory(const trace::Trace& trace) {
  Memory found;
  find_rss(trace, found);
  find_extent(trace, found);
  std::map<std::pair<int, std::int32_t>, std::vector<std::uint32_t>> by_device;
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i) {
    const MemoryEvent& event = trace.memory[i];
    if (is_credible(event)) by_device[{rank_of(event.device), event.device_index}].push_back(i);
  }
  const std::vector<std::uint32_t> processes = processes_of(trace);
  for (auto& [key, events] : by_device) {
    const MemoryEvent& first = trace.memory[events.front()];
    Follower follower(trace, processes, std::move(events), found.begin_ns);
    DeviceMemory& device = follower.found;
    device.device = first.device;
    device.index = first.device_index;
    const std::size_t last = device.levels.size() - 1;
    device.at_peak = uses_of(trace, device.blocks, device.peak);
    device.leaks = uses_of(trace, device.blocks, last);
    device.unknown_at_peak =
        std::max<std::int64_t>(0, device.peak_bytes() - total_bytes(device.at_peak));
    device.unknown_at_end =
        std::max<std::int64_t>(0, device.levels[last].allocated - total_bytes(device.leaks));
    find_unused(trace, device);
    device.roles_at_peak = role_uses(device, memory_roles(trace, device), device.peak);
    for (const trace::OutOfMemory& failure : trace.allocator.failures) {
      if (failure.device_index == device.index) device.failures.push_back(failure);
    }
    found.devices.push_back(std::move(device));
  }
  return found;
}

std::int64_t total_bytes(const std::vector<MemoryUse>& uses) {
  return std::accumulate(uses.begin(), uses.end(), std::int64_t{0},
                         [](std::int64_t sum, const MemoryUse& use) { return sum + use.bytes; });
}

std::uint64_t total_blocks(const std::vector<MemoryUse>& uses) {
  return std::accumulate(uses.begin(), uses.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const MemoryUse& use) { return sum + use.blocks; });
}

}  // namespace fathom::analyze
