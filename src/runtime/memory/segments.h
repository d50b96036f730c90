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
  Segment* segment = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Chunk* before = nullptr;
  Chunk* after = nullptr;
  std::atomic<State> state = State::free;  // a neighbour's is read under another lock
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
  // Never freed, so that a block that is given back twice is found out and does no harm.
  std::deque<Chunk> chunks_;
  std::vector<Chunk*> spare_chunks_;
  FreeChunks free_[2];                     // of small segments, of others
  std::atomic<std::size_t> reserved_ = 0;  // read without the lock, too
  std::size_t peak_reserved_ = 0;
  std::uint64_t takes_ = 0;
};

}  // namespace fathom::runtime
