#include "profiler/blocks.h"

#include <sys/mman.h>

#include <memory>
#include <new>

#include "profiler/live_file.h"

namespace fathom::detail {

namespace {
constexpr std::size_t kSlabBlocks = 64;
constexpr std::size_t kSlabBytes = (kSlabBlocks + 1) * kBlockBytes;  // one to align with
}  // namespace

BlockPool::~BlockPool() {
  for (void* slab : slabs_) munmap(slab, kSlabBytes);
}

void BlockPool::add_slab() {
  slabs_.reserve(slabs_.size() + 1);
  free_.reserve((slabs_.size() + 1) * kSlabBlocks);
  void* const slab = mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED) throw std::bad_alloc();
  slabs_.push_back(slab);
  free_slab(slab);
}

void BlockPool::free_slab(void* slab) {
  void* first = slab;
  std::size_t room = kSlabBytes;
  std::align(kBlockBytes, kSlabBlocks * kBlockBytes, first, room);
  for (std::size_t i = kSlabBlocks; i-- > 0;) {
    free_.push_back(reinterpret_cast<Block*>(static_cast<char*>(first) + i * kBlockBytes));
  }
}

Block* BlockPool::take(bool for_run_file) noexcept {
  const std::lock_guard lock(mutex_);
  if (in_use_ >= limit_) return nullptr;
  if (void* const place = for_run_file && live_ != nullptr ? live_->blocks().take() : nullptr) {
    ++in_use_;
    return new (place) Block;
  }
  try {
    if (free_.empty()) add_slab();
  } catch (...) {
    return nullptr;
  }
  // Made when it is taken, so that a page nobody needs is never touched.
  Block* const block = new (free_.back()) Block;
  free_.pop_back();
  ++in_use_;
  return block;
}

void BlockPool::give_back(Block* block) noexcept {
  const std::lock_guard lock(mutex_);
  --in_use_;
  block->thread.store(0, std::memory_order_relaxed);
  if (live_ != nullptr && live_->blocks().give_back(block, true)) return;
  free_.push_back(block);  // add_slab has made room for all there are
}

void BlockPool::set_live(LiveFile* live) noexcept {
  const std::lock_guard lock(mutex_);
  live_ = live;
}

void BlockPool::start_over_in_child() noexcept {
  const std::lock_guard lock(mutex_);
  live_ = nullptr;
  in_use_ = 0;
  free_.clear();  // add_slab has made room for all there are
  for (void* const slab : slabs_) free_slab(slab);
}

void BlockPool::set_limit(std::size_t blocks) noexcept {
  const std::lock_guard lock(mutex_);
  limit_ = blocks;
}

}  // namespace fathom::detail
