#include "analyze/memory/unused_memory.h"

#include <algorithm>
#include <map>

namespace fathom::analyze {
namespace {

using trace::AllocatorSegment;
using trace::MemoryEvent;

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t address_of(const trace::Trace& trace, const MemoryBlock& block) {
  return block.is_older ? trace.allocator.older[block.index].address
                        : trace.memory[block.index].address.value_or(0);
}

// Segments of the device as they come and go, and what is allocated in each.
class SegmentSweep {
 public:
  SegmentSweep(const trace::Trace& trace, const DeviceMemory& device)
      : trace_(trace), device_(device) {
    for (const AllocatorSegment& segment : trace.allocator.segments) {
      if (segment.device_index != device.index) continue;
      changes_.push_back({level_at(segment.begin_ns), true, &segment, nullptr});
      changes_.push_back({level_at(segment.end_ns), false, &segment, nullptr});
    }
    if (changes_.empty()) return;
    for (const MemoryBlock& block : device.blocks) {
      changes_.push_back({block.from, true, nullptr, &block});
      changes_.push_back({block.to, false, nullptr, &block});
    }
    // At one level blocks go, then segments, then segments come, then blocks.
    std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
      return a.level != b.level ? a.level < b.level : a.rank() < b.rank();
    });
  }

  bool has_segments() const { return !changes_.empty(); }

  void go_to(std::size_t level) {
    for (; next_ < changes_.size() && changes_[next_].level <= level; ++next_) {
      const Change& change = changes_[next_];
      if (change.segment != nullptr) {
        apply(*change.segment, change.comes);
      } else {
        apply(*change.block, change.comes);
      }
    }
  }

  // Whether the segments are all that the source says is reserved, at a level that it went to.
  bool is_whole(std::size_t level) const {
    return device_.levels[level].reserved.value_or(reserved_) == reserved_;
  }

  struct Segment {
    std::int64_t bytes = 0;
    std::int64_t used = 0;
  };
  const std::map<std::uint64_t, Segment>& there() const { return there_; }
  std::int64_t reserved() const { return reserved_; }
  std::int64_t free_segment_bytes() const { return free_; }
  std::int64_t hole_bytes() const { return std::max<std::int64_t>(0, reserved_ - free_ - used_); }

 private:
  struct Change {
    std::size_t level = 0;
    bool comes = false;
    const AllocatorSegment* segment = nullptr;
    const MemoryBlock* block = nullptr;

    int rank() const { return comes ? (segment != nullptr ? 2 : 3) : (segment != nullptr ? 1 : 0); }
  };

  // The first level of that time or later.
  std::size_t level_at(std::int64_t time_ns) const {
    const std::vector<MemoryLevel>& levels = device_.levels;
    const auto at = std::lower_bound(
        levels.begin(), levels.end(), time_ns,
        [](const MemoryLevel& level, std::int64_t time) { return level.time_ns < time; });
    return at == levels.end() ? MemoryBlock::kToTheEnd
                              : static_cast<std::size_t>(at - levels.begin());
  }

  void apply(const AllocatorSegment& segment, bool comes) {
    if (!comes) {
      const auto known = there_.find(segment.address);
      if (known == there_.end() || known->second.bytes != segment.bytes) return;
      if (known->second.used == 0) free_ -= segment.bytes;
      used_ -= known->second.used;
      reserved_ -= segment.bytes;
      there_.erase(known);
      return;
    }
    if (!there_.try_emplace(segment.address, Segment{segment.bytes, 0}).second) return;
    reserved_ += segment.bytes;
    free_ += segment.bytes;
  }

  void apply(const MemoryBlock& block, bool comes) {
    const std::uint64_t address = address_of(trace_, block);
    auto at = there_.upper_bound(address);
    if (at == there_.begin()) return;
    --at;
    Segment& segment = at->second;
    if (address - at->first >= static_cast<std::uint64_t>(segment.bytes)) return;
    if (segment.used == 0) free_ -= segment.bytes;
    segment.used += comes ? block.bytes : -block.bytes;
    used_ += comes ? block.bytes : -block.bytes;
    if (segment.used == 0) free_ += segment.bytes;
  }

  const trace::Trace& trace_;
  const DeviceMemory& device_;
  std::vector<Change> changes_;
  std::size_t next_ = 0;
  std::map<std::uint64_t, Segment> there_;  // by address
  std::int64_t reserved_ = 0;
  std::int64_t free_ = 0;  // in segments without a block
  std::int64_t used_ = 0;
};

std::vector<AddressRange> ranges_at(const trace::Trace& trace, const DeviceMemory& device,
                                    std::size_t level) {
  std::vector<AddressRange> ranges;
  for (const MemoryBlock& block : device.blocks) {
    if (!block.alive_at(level)) continue;
    const std::uint64_t begin = address_of(trace, block);
    ranges.push_back({begin, begin + static_cast<std::uint64_t>(block.bytes)});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return ranges;
}

// The largest piece of a segment that no block lies in.
std::int64_t largest_piece(const SegmentSweep& sweep, const std::vector<AddressRange>& blocks) {
  std::int64_t largest = 0;
  auto block = blocks.begin();
  for (const auto& [begin, segment] : sweep.there()) {
    const std::uint64_t end = begin + static_cast<std::uint64_t>(segment.bytes);
    std::uint64_t at = begin;
    const auto take = [&](std::uint64_t to) {
      if (to > at) largest = std::max(largest, static_cast<std::int64_t>(to - at));
    };
    for (; block != blocks.end() && block->begin < end; ++block) {
      if (block->begin < begin) continue;
      take(block->begin);
      at = std::max(at, block->end);
    }
    take(end);
  }
  return largest;
}

std::optional<UnusedMemory> unused_memory(const trace::Trace& trace, const DeviceMemory& device,
                                          SegmentSweep& sweep, std::size_t level) {
  if (!sweep.has_segments()) return {};
  sweep.go_to(level);
  if (!sweep.is_whole(level)) return {};
  UnusedMemory found;
  found.reserved = sweep.reserved();
  found.free_segment_bytes = sweep.free_segment_bytes();
  for (const auto& [address, segment] : sweep.there()) found.free_segments += segment.used == 0;
  found.hole_bytes = sweep.hole_bytes();
  found.largest_free_bytes = largest_piece(sweep, ranges_at(trace, device, level));
  return found;
}

double share_in_pieces(std::int64_t free, std::int64_t largest) {
  return free > 0 ? 1 - static_cast<double>(largest) / static_cast<double>(free) : 0;
}

std::optional<Fragmentation> fragmentation_of_gaps(const trace::Trace& trace,
                                                   const DeviceMemory& device) {
  if (device.device == trace::MemoryDevice::cpu || device.unknown_at_peak != 0) return {};
  std::optional<std::uint32_t> process;
  for (const MemoryBlock& block : device.blocks) {
    if (!block.alive_at(device.peak)) continue;
    const bool is_handle = !block.is_older && trace.memory[block.index].is_handle;
    if (is_handle || process.value_or(block.process) != block.process) return {};
    process = block.process;
  }
  const std::vector<AddressRange> ranges = ranges_at(trace, device, device.peak);
  if (ranges.empty()) return {};
  const MemoryLevel& peak = device.levels[device.peak];
  const std::int64_t most =
      peak.reserved ? std::max<std::int64_t>(0, *peak.reserved - peak.allocated) : INT64_MAX;
  Fragmentation made;
  std::uint64_t end = ranges.front().end;
  for (const AddressRange& range : ranges) {
    if (range.begin > end && range.begin - end <= static_cast<std::uint64_t>(most)) {
      const auto gap = static_cast<std::int64_t>(range.begin - end);
      made.free_bytes += gap;
      made.largest_free_bytes = std::max(made.largest_free_bytes, gap);
    }
    end = std::max(end, range.end);
  }
  made.share = share_in_pieces(made.free_bytes, made.largest_free_bytes);
  return made;
}

}  // namespace

void find_unused(const trace::Trace& trace, DeviceMemory& device) {
  SegmentSweep sweep(trace, device);
  device.unused_at_peak = unused_memory(trace, device, sweep, device.peak);
  device.unused_at_end = unused_memory(trace, device, sweep, device.levels.size() - 1);
  if (!device.unused_at_peak) {
    device.fragmentation = fragmentation_of_gaps(trace, device);
    return;
  }
  const UnusedMemory& unused = *device.unused_at_peak;
  Fragmentation made;
  made.free_bytes = unused.free_segment_bytes + unused.hole_bytes;
  made.largest_free_bytes = unused.largest_free_bytes;
  made.share = share_in_pieces(made.free_bytes, made.largest_free_bytes);
  device.fragmentation = made;
}

std::vector<std::optional<UnusedAt>> unused_at(const trace::Trace& trace,
                                               const DeviceMemory& device,
                                               const std::vector<std::size_t>& levels) {
  std::vector<std::optional<UnusedAt>> found(levels.size());
  SegmentSweep sweep(trace, device);
  if (!sweep.has_segments()) return found;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    sweep.go_to(levels[i]);
    if (!sweep.is_whole(levels[i])) continue;
    found[i] = UnusedAt{sweep.free_segment_bytes(), sweep.hole_bytes()};
  }
  return found;
}

}  // namespace fathom::analyze
