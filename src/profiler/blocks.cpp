#include "profiler/blocks.h"

#include <new>

namespace fathom::detail {

BlockPool::~BlockPool() {
  for (const Block* block : free_) delete block;
}

Block* BlockPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (in_use_ >= limit_) return nullptr;
  Block* block = nullptr;
  if (free_.empty()) {
    block = new (std::nothrow) Block;
    if (block == nullptr) return nullptr;
  } else {
    block = free_.back();
    free_.pop_back();
    block->end.store(nullptr, std::memory_order_relaxed);
    block->next.store(nullptr, std::memory_order_relaxed);
  }
  ++in_use_;
  return block;
}

void BlockPool::give_back(Block* block) noexcept {
  const std::lock_guard lock(mutex_);
  --in_use_;
  try {
    free_.push_back(block);
  } catch (...) {
    delete block;
  }
}

void BlockPool::set_limit(std::size_t blocks) noexcept {
  const std::lock_guard lock(mutex_);
  limit_ = blocks;
}

}  // namespace fathom::detail
