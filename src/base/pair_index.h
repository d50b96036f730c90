#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::base {

// Two small numbers → one: a hash table for tables that are asked millions of times. Open
// addressing, at most half full.
class PairIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PairIndex() : slots_(1024) {}

  // The number of a pair, kNone where it has none yet: set it. Valid until the next call.
  std::uint32_t& at(std::uint32_t first, std::uint32_t second) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& slot = find(std::uint64_t{first} << 32 | second);
    if (slot.value == kNone) ++used_;  // its owner sets it now
    return slot.value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = kNone;
  };

  Slot& find(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key * 0x9E3779B97F4A7C15U >> 32) & mask;
    while (slots_[at].value != kNone && slots_[at].key != key) at = (at + 1) & mask;
    slots_[at].key = key;
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != kNone) find(slot.key).value = slot.value;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;  // an upper bound
};

}  // namespace fathom::base
