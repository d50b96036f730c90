#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "fathom/memory_pool.h"

namespace fathom::runtime {

inline constexpr std::size_t kBlockStep = 512;
inline constexpr std::size_t kSmallBlock = 1 << 20;

constexpr std::size_t rounded(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

struct Segment;

// A part of a segment: used, kept for a thread, or free. Neighbours are linked.
struct Chunk {
  enum class State : std::uint8_t { free, used, kept };
  const void* owner = nullptr;  // the segments that it belongs to, for good
  Segment* segment = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Chunk* before = nullptr;
  Chunk* after = nullptr;

  // Both in one, so that one exchange tells whether a block is still the use that it was given for.
  // A neighbour's state is read under another lock.
  static constexpr std::uint64_t kStates = 4;
  std::atomic<std::uint64_t> use_and_state = 0;

  State state() const { return static_cast<State>(use_and_state % kStates); }
  void free() { use_and_state = of(use(), State::free); }
  std::uint64_t use() const { return use_and_state / kStates; }
  void take() { use_and_state = of(use() + 1, State::used); }  // for somebody new
  // By whoever has this use of it, and once.
  bool keep(std::uint64_t use) {
    std::uint64_t expected = of(use, State::used);
    return use_and_state.compare_exchange_strong(expected, of(use, State::kept));
  }

 private:
  static std::uint64_t of(std::uint64_t use, State state) {
    return use * kStates + static_cast<std::uint64_t>(state);
  }
};

struct Segment {
  void* origin = nullptr;
  std::size_t bytes = 0;
  bool is_small = false;
  Chunk* first = nullptr;
  std::uint64_t last_used = 0;  // by count of allocations
};

// The parts of all segments: best fit, split, merge. One thread at a time.
class Segments {
 public:
  Segments(const MemoryOrigin& origin, std::size_t most_bytes)
      : origin_(origin), most_bytes_(most_bytes) {}
  ~Segments();
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  // `bytes` is a multiple of kBlockStep. Null where nothing free is large enough.
  Chunk* take(std::size_t bytes);
  bool grow(std::size_t bytes);  // a segment that such a block fits; false: no memory
  void give_back(Chunk* chunk);
  std::size_t trim(std::size_t keep);  // bytes that went back to the origin

  std::size_t reserved() const { return reserved_; }
  std::size_t peak_reserved() const { return peak_reserved_; }
  std::size_t count() const { return segments_.size(); }
  std::size_t largest_free() const;

 private:
  struct BySize {
    bool operator()(const Chunk* a, const Chunk* b) const;
  };
  using FreeChunks = std::set<Chunk*, BySize>;

  Chunk* new_chunk(Segment* segment, std::size_t offset, std::size_t bytes);
  void forget(Chunk* chunk) { spare_chunks_.push_back(chunk); }
  bool add_segment(std::size_t bytes, bool is_small);
  FreeChunks& free_of(const Chunk* chunk) { return free_[chunk->segment->is_small ? 0 : 1]; }

  const MemoryOrigin& origin_;
  const std::size_t most_bytes_;
  std::vector<std::unique_ptr<Segment>> segments_;
  // Never freed, and uses of one are counted: a block that is given back twice is found out and
  // does no harm, even where somebody else has its memory now.
  std::deque<Chunk> chunks_;
  std::vector<Chunk*> spare_chunks_;
  FreeChunks free_[2];                     // of small segments, of others
  std::atomic<std::size_t> reserved_ = 0;  // read without the lock, too
  std::size_t peak_reserved_ = 0;
  std::uint64_t takes_ = 0;
};

}  // namespace fathom::runtime
