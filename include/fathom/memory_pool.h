#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "fathom/export.h"

// Memory of a device or of the host that is asked for once and used again: link fathom::runtime.
//
//   fathom::MemoryPool pool(fathom::host_memory());
//   fathom::PoolBlock block = pool.allocate(1 << 20);
//   …
//   pool.free(block);
namespace fathom {

// Where a pool gets its memory. Segments are aligned to 512 bytes or more. Any thread may call.
struct MemoryOrigin {
  std::string name;                             // for messages: "host", "opencl:0"
  std::function<void*(std::size_t)> allocate;   // null where there is no room
  std::function<void(void*)> release;           // does not throw
  std::optional<std::int32_t> profiler_device;  // the profiler is told of it as memory of this GPU
  // Where a recorder tells of the memory itself, as of real devices, the profiler is told of what
  // is reserved only; else of each block, too.
  bool is_recorded = false;
};
FATHOM_API MemoryOrigin host_memory();

// A part of a segment. Plain data: whoever has it gives it back, on any thread.
struct PoolBlock {
  void* segment = nullptr;  // as the origin gave it; of a device, perhaps a handle
  std::size_t offset = 0;   // in the segment, a multiple of 512 bytes
  std::size_t bytes = 0;    // that may be used: at least as many as were asked for
  void* chunk = nullptr;    // the pool's own, here and below
  std::uint64_t use = 0;    // by which a block that was freed and given to others is known

  // Where the origin gives addresses.
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(static_cast<char*>(segment) + offset);
  }
};

struct FATHOM_API PoolStatistics {
  std::size_t current_bytes = 0;  // in blocks that are used
  std::size_t peak_bytes = 0;     // the most that was
  std::uint64_t total_bytes = 0;  // of all blocks ever
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t reused = 0;        // allocations that asked the origin for nothing
  std::size_t reserved_bytes = 0;  // in segments
  std::size_t peak_reserved_bytes = 0;
  std::size_t segments = 0;
  std::size_t free_bytes = 0;          // in segments, and in no block that is used
  std::size_t kept_bytes = 0;          // of these, in small blocks that are kept for threads
  std::size_t largest_free_bytes = 0;  // the largest block that needs no new segment
  std::uint64_t clean_ups = 0;         // because there was no memory
  double hit_rate() const;             // reused / allocations; 0 of none
  // 1 - largest free / free, but for what is kept: 0 is one piece; 0 where none is free.
  double fragmentation() const;
};

// There is no memory, after all that could be given back was.
struct FATHOM_API OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct PoolOptions {
  std::size_t most_bytes = SIZE_MAX;  // in segments
};

// Sizes are rounded to 512 bytes; up to 1 MiB they are parts of segments of 2 MiB, up to 10 MiB of
// 20 MiB, above that a segment is as large as the block. The smallest free part that is large
// enough is taken and split; free neighbours become one. Small blocks that are given back are kept
// for their thread. Any thread may call; the pool outlives its blocks' use.
class FATHOM_API MemoryPool {
 public:
  explicit MemoryPool(MemoryOrigin origin, const PoolOptions& options = {});
  ~MemoryPool();  // gives all segments back, used or not
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Throws OutOfMemory. A block of 0 bytes is one of 512.
  PoolBlock allocate(std::size_t bytes);
  std::optional<PoolBlock> try_allocate(std::size_t bytes);
  // Throws std::invalid_argument for a block that was freed already, whoever has its memory now,
  // and for one of another pool.
  void free(const PoolBlock& block);

  // Gives back segments that nothing uses until at most `keep` bytes are reserved, the least
  // recently used first; returns how many bytes.
  std::size_t trim(std::size_t keep = 0);
  // Called where there is no memory, after trim(): gives back what it can, of `wanted` bytes, and
  // says how much that was. It may free blocks of this pool. One at most; nothing: none.
  void on_out_of_memory(std::function<std::size_t(std::size_t wanted)> clean_up);

  PoolStatistics statistics() const;
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
