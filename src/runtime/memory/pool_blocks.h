#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fathom/memory_pool.h"
#include "runtime/device.h"

namespace fathom::runtime {

// Blocks of a pool that go back together, whatever happens.
class PoolBlocks {
 public:
  explicit PoolBlocks(MemoryPool& pool) : pool_(pool) {}
  ~PoolBlocks() {
    for (const PoolBlock& block : blocks_) pool_.free(block);
  }
  PoolBlocks(const PoolBlocks&) = delete;
  PoolBlocks& operator=(const PoolBlocks&) = delete;

  Place add(std::size_t bytes) {
    blocks_.reserve(blocks_.size() + 1);  // nothing throws once the block is ours
    blocks_.push_back(pool_.allocate(bytes));
    return {blocks_.back().segment, blocks_.back().offset};
  }
  // Of a pool of the host.
  template <typename T>
  std::span<T> add_array(std::size_t count) {
    add(count * sizeof(T));
    return {blocks_.back().as<T>(), count};
  }

 private:
  MemoryPool& pool_;
  std::vector<PoolBlock> blocks_;
};

}  // namespace fathom::runtime
