#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "profiler/words.h"

namespace fathom::detail {

inline constexpr std::size_t kBlockBytes = 65536;

// A piece of a thread's timeline. Aligned to its size, so that a cursor knows when it is full.
// Blocks that go to a run file form a chain, in the order they were filled.
struct alignas(kBlockBytes) Block {
  std::atomic<Word*> end = nullptr;    // set once the block will not grow any more
  std::atomic<Block*> next = nullptr;  // in the chain
  bool kept = false;                   // for entries(). Both under the thread's mutex:
  bool streamed = false;               // in the chain, and the writer is not done with it
  alignas(64) Word words[(kBlockBytes - 64) / sizeof(Word)];

  bool holds(const Word* word) const {
    // The cursor of a full block stands just behind it.
    return word >= words && word <= words + kWords;
  }
  static constexpr std::size_t kWords = (kBlockBytes - 64) / sizeof(Word);
};
static_assert(sizeof(Block) == kBlockBytes);

inline bool is_full(const Word* cursor) {
  return reinterpret_cast<std::uintptr_t>(cursor) % kBlockBytes == 0;
}

// Hands out blocks and takes them back; bounded. Any thread. Memory comes a megabyte at a time,
// because aligned blocks one by one waste half as much again.
class BlockPool {
 public:
  ~BlockPool();

  Block* take() noexcept;  // null when there are `limit` of them in use, or no memory
  void give_back(Block* block) noexcept;
  void set_limit(std::size_t blocks) noexcept;
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  void add_slab();

  std::vector<Block*> free_;
  std::vector<void*> slabs_;
  std::size_t in_use_ = 0;
  std::size_t limit_ = SIZE_MAX;
};

}  // namespace fathom::detail
