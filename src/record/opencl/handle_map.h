#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace fathom::record::opencl {

// OpenCL handles to what we know of them: a pointer or a number, where null or 0 is nothing.
// Looking up takes no lock; setting does. Handles are reused by drivers once their object is gone:
// whoever sees an object created sets it again, so a stale entry is never read. Tables that were
// outgrown stay readable for those still in them; all of them together are smaller than the last.
// Never destroyed.
template <typename Value>
class HandleMap {
 public:
  // The value set last, or nothing.
  Value find(const void* handle) const noexcept {
    const Table* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr || handle == nullptr) return Value();
    return slot_of(*table, handle).value.load(std::memory_order_acquire);
  }

  // False when memory ran out: nothing is changed then. Setting to nothing removes.
  bool set(const void* handle, Value value) noexcept {
    if (handle == nullptr) return false;
    const std::lock_guard guard(lock_);
    Table* const table = table_with_room();
    if (table == nullptr) return false;
    Slot& known = slot_of(*table, handle);
    if (known.handle.load(std::memory_order_relaxed) == handle) {
      known.value.store(value, std::memory_order_release);
    } else if (value != Value()) {
      Slot& slot = room_for(*table, handle);
      if (slot.handle.load(std::memory_order_relaxed) == nullptr) ++table->used;
      slot.value.store(value, std::memory_order_release);
      slot.handle.store(handle, std::memory_order_release);
    }
    return true;
  }

  // Around a fork, so that the child finds the lock free.
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }

 private:
  static constexpr std::size_t kFirstSlots = 256;

  struct Slot {
    std::atomic<const void*> handle = nullptr;
    std::atomic<Value> value = Value();
  };
  struct Table {
    std::size_t mask = 0;
    std::size_t used = 0;
    Slot* slots = nullptr;
  };

  static std::size_t mix(const void* handle) noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return static_cast<std::size_t>((number >> 4) * 0x9E3779B97F4A7C15ULL >> 20);
  }

  // The slot that holds the handle, or the empty one that ends the search.
  static Slot& slot_of(const Table& table, const void* handle) noexcept {
    std::size_t i = mix(handle) & table.mask;
    while (true) {
      const void* const found = table.slots[i].handle.load(std::memory_order_acquire);
      if (found == handle || found == nullptr) return table.slots[i];
      i = (i + 1) & table.mask;
    }
  }

  // Where a new handle goes: the slot of a removed one on its way, or the empty one that ends it.
  // Nobody looks for the removed handle any more, so it may change under the readers passing by.
  static Slot& room_for(const Table& table, const void* handle) noexcept {
    std::size_t i = mix(handle) & table.mask;
    while (table.slots[i].handle.load(std::memory_order_relaxed) != nullptr &&
           table.slots[i].value.load(std::memory_order_relaxed) != Value()) {
      i = (i + 1) & table.mask;
    }
    return table.slots[i];
  }

  static Table* make_table(std::size_t slots) noexcept {
    auto* const table = new (std::nothrow) Table;
    if (table == nullptr) return nullptr;
    table->slots = new (std::nothrow) Slot[slots];
    if (table->slots == nullptr) {
      delete table;
      return nullptr;
    }
    table->mask = slots - 1;
    return table;
  }

  // The table, half empty at least.
  Table* table_with_room() noexcept {
    Table* const old = table_.load(std::memory_order_relaxed);
    if (old != nullptr && (old->used + 1) * 2 <= old->mask) return old;
    Table* const table = make_table(old == nullptr ? kFirstSlots : (old->mask + 1) * 2);
    if (table == nullptr) return nullptr;
    for (std::size_t i = 0; old != nullptr && i <= old->mask; ++i) {
      const Value value = old->slots[i].value.load(std::memory_order_relaxed);
      if (value == Value()) continue;
      const void* const handle = old->slots[i].handle.load(std::memory_order_relaxed);
      Slot& slot = slot_of(*table, handle);
      slot.handle.store(handle, std::memory_order_relaxed);
      slot.value.store(value, std::memory_order_relaxed);
      ++table->used;
    }
    table_.store(table, std::memory_order_release);
    return table;
  }

  std::atomic<Table*> table_ = nullptr;
  std::mutex lock_;
};

}  // namespace fathom::record::opencl
