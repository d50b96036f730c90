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
  static constexpr std::size_t kHeaderBytes = 128;
  static constexpr std::size_t kWords = (kBlockBytes - kHeaderBytes) / sizeof(Word);

  std::atomic<Word*> end = nullptr;    // set once the block will not grow any more
  std::atomic<Block*> next = nullptr;  // in the chain
  bool kept = false;                   // for entries(). Both under the thread's mutex:
  bool streamed = false;               // in the chain, and the writer is not done with it

  // For whoever reads the block after the process is gone (leftovers.cpp).
  std::atomic<std::uint32_t> thread = 0;  // whose words these are: its number and 1; 0 for nobody's
  std::atomic<std::uint32_t> settled = 0;  // words that are certain; scopes go on from there
  std::int64_t tid = 0;
  std::uint64_t place = 0;  // in the thread's chain
  std::uint64_t start = 0;  // ticks, before its first word
  char name[16] = {};       // of the thread

  // How far the writer had come, at the end of its last pass and of the one before.
  struct Progress {
    std::uint64_t pass = 0;
    std::uint64_t time = 0;  // WordTime
    std::uint32_t word = 0;
    std::uint32_t depth = 0;
  } progress[2];
  alignas(64) Word words[kWords];

  bool holds(const Word* word) const {
    // The cursor of a full block stands just behind it.
    return word >= words && word <= words + kWords;
  }
  std::uint32_t index_of(const Word* word) const {
    return static_cast<std::uint32_t>(word - words);
  }
};
static_assert(sizeof(Block) == kBlockBytes);

inline bool is_full(const Word* cursor) {
  return reinterpret_cast<std::uintptr_t>(cursor) % kBlockBytes == 0;
}

class LiveFile;

// Hands out blocks and takes them back; bounded. Any thread. Memory comes a megabyte at a time,
// because aligned blocks one by one waste half as much again.
class BlockPool {
 public:
  ~BlockPool();

  // Null when there are `limit` of them in use, or no memory. A block for the run file comes out of
  // the live file while that has any.
  Block* take(bool for_run_file) noexcept;
  void give_back(Block* block) noexcept;
  void set_limit(std::size_t blocks) noexcept;
  void set_live(LiveFile* live) noexcept;
  void start_over_in_child() noexcept;  // when nobody has a block any more
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  void add_slab();
  void free_slab(void* slab);

  std::vector<Block*> free_;
  std::vector<void*> slabs_;
  LiveFile* live_ = nullptr;
  std::size_t in_use_ = 0;
  std::size_t limit_ = SIZE_MAX;
};

}  // namespace fathom::detail
