#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fathom/results.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Memory over time: how much, when most and whose, and what was never given back.
//
// A block is an allocation, alive until the free of the same address in the same process and
// device. An address that is allocated again while alive was freed unseen. A free of an address
// that was never allocated is of a block from before the recording: it was alive since the
// beginning. Events without an address change the level and belong to no block.
//
// The level (bytes allocated) after an event is the source's own total where it has one, else what
// the blocks add up to. A total that falls below 0 was counted from too late: the level is raised
// by the least that keeps it at 0 or more. The level of a device is that of all processes together.

// Blocks by where they were allocated are MemoryUse. The scope is the innermost scope or annotation
// around the allocation on its thread; the call is what the source says allocated it, else the
// outermost operator or runtime call within the scope, else the innermost Python function. Empty
// where there is none. Numbered steps of PyTorch ("ProfilerStep#7") are one scope.

struct MemoryLevel {
  std::int64_t time_ns = 0;
  std::int64_t allocated = 0;
  std::optional<std::int64_t> reserved;  // by an allocator that keeps memory for later
};

// How the free memory between the blocks alive at the peak is cut up: 1 − largest gap / all gaps,
// in addresses. 0: in one piece, or none at all. Known only of devices (a host's heap has others in
// it), and where every byte of the peak is in a block with a real address of one process. A gap
// larger than all that was reserved and not allocated (where known) is not reserved memory, and
// does not count.
struct Fragmentation {
  std::int64_t free_bytes = 0;
  std::int64_t largest_free_bytes = 0;
  double share = 0;
};

// A block: an allocation, or one that the source knows to be older. It is part of the levels
// [from, to) of DeviceMemory::levels.
struct MemoryBlock {
  static constexpr std::size_t kToTheEnd = SIZE_MAX;

  std::uint32_t index = 0;  // into Trace::memory, or Trace::allocator.older
  std::uint32_t process = 0;
  std::int64_t bytes = 0;
  std::size_t from = 0;
  std::size_t to = kToTheEnd;
  bool is_older = false;

  bool alive_at(std::size_t level) const { return from <= level && level < to; }
};

// What an allocator had taken from the device and does not use: whole segments, which it could give
// back, and holes in segments that blocks lie in, which it could not. Known where the segments are,
// and add up to what the source says is reserved.
struct UnusedMemory {
  std::int64_t reserved = 0;
  std::int64_t free_segment_bytes = 0;
  std::uint64_t free_segments = 0;
  std::int64_t hole_bytes = 0;
  std::int64_t largest_free_bytes = 0;  // in one piece: the most that fits without taking more
};

// What memory is for, told by when it was allocated and freed. Training: what the optimizer step
// (a span "Optimizer.step#…") allocates and leaves is its state; what autograd allocates and leaves
// at the end of the backward, gradients; what comes before and is freed in the backward,
// activations; else what goes as it came, temporary. Of blocks older than the recording, those
// never freed are weights (as a rule), those that the optimizer step frees are its state.
enum class MemoryRole : std::uint8_t {
  weights,
  optimizer,
  gradients,
  activations,
  temporary,
  other
};
inline constexpr std::size_t kMemoryRoles = 6;

struct RoleUse {
  MemoryRole role = MemoryRole::other;
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct DeviceMemory {
  trace::MemoryDevice device = trace::MemoryDevice::unknown;
  std::int32_t index = -1;  // as the source numbers it; -1 where it does not

  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t unknown_frees = 0;    // of these, of blocks from before the recording
  std::uint64_t unseen_frees = 0;     // addresses allocated again while alive
  std::uint64_t without_address = 0;  // allocations and frees that belong to no block
  std::int64_t allocated_bytes = 0;   // of all allocations: over the peak, that is the churn

  std::vector<MemoryLevel> levels;            // one at the beginning, then one after each event
  std::size_t peak = 0;                       // the first highest of them
  std::optional<std::int64_t> most_reserved;  // of all levels; where any is known

  std::vector<MemoryUse> at_peak;    // most bytes first; empty where blocks are unknown
  std::int64_t unknown_at_peak = 0;  // bytes of the peak in no block: older than the recording
  std::vector<MemoryUse> leaks;      // alive at the end of the recording; most bytes first
  std::int64_t unknown_at_end = 0;   // bytes of the end in no block: older than the recording
  std::optional<Fragmentation> fragmentation;
  std::optional<UnusedMemory> unused_at_peak;
  std::optional<UnusedMemory> unused_at_end;
  std::vector<RoleUse> roles_at_peak;        // most bytes first; empty where nothing tells
  std::vector<MemoryBlock> blocks;           // by `from`
  std::vector<trace::OutOfMemory> failures;  // allocations that failed, by time

  std::int64_t peak_bytes() const { return levels[peak].allocated; }
};

struct HostSample {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
};

struct Memory {
  std::int64_t begin_ns = 0;  // of the recording: of the program, and of anything in it
  std::int64_t end_ns = 0;
  std::vector<DeviceMemory> devices;  // GPUs first, by number
  std::vector<HostSample> rss;        // resident memory of the program on the host
  // The most that any one process of it had, as the kernel counted it.
  std::optional<std::int64_t> kernel_peak_rss;
};

Memory memory(const trace::Trace& trace);

// The most that was resident on the host: by sample or by the kernel's count, whichever is more.
// The first sample is of a program that has hardly begun: alone, it says nothing of the most.
std::optional<std::int64_t> peak_rss(const Memory& memory);

std::int64_t total_bytes(const std::vector<MemoryUse>& uses);
std::uint64_t total_blocks(const std::vector<MemoryUse>& uses);

}  // namespace fathom::analyze
