#include "record/opencl/handle_map.h"

#include <new>

namespace fathom::record::opencl {
namespace {

constexpr std::size_t kFirstSlots = 256;

std::size_t mix(const void* handle) {
  return static_cast<std::size_t>(
      (reinterpret_cast<std::uintptr_t>(handle) >> 4) * 0x9E3779B97F4A7C15ULL >> 20);
}

}  // namespace

// The slot that holds the handle, or the empty one that ends the search.
HandleMap::Slot& HandleMap::slot_of(const Table& table, const void* handle) noexcept {
  std::size_t i = mix(handle) & table.mask;
  while (true) {
    const void* const found = table.slots[i].handle.load(std::memory_order_acquire);
    if (found == handle || found == nullptr) return table.slots[i];
    i = (i + 1) & table.mask;
  }
}

// Where a new handle goes: the slot of a removed one on its way, or the empty one that ends it.
// Nobody looks for the removed handle any more, so it may change under the readers passing by.
HandleMap::Slot& HandleMap::room_for(const Table& table, const void* handle) noexcept {
  std::size_t i = mix(handle) & table.mask;
  while (table.slots[i].handle.load(std::memory_order_relaxed) != nullptr &&
         table.slots[i].value.load(std::memory_order_relaxed) != 0) {
    i = (i + 1) & table.mask;
  }
  return table.slots[i];
}

std::uintptr_t HandleMap::find(const void* handle) const noexcept {
  const Table* const table = table_.load(std::memory_order_acquire);
  if (table == nullptr || handle == nullptr) return 0;
  return slot_of(*table, handle).value.load(std::memory_order_acquire);
}

bool HandleMap::set(const void* handle, std::uintptr_t value) noexcept {
  if (handle == nullptr) return false;
  const std::lock_guard guard(lock_);
  Table* table = table_.load(std::memory_order_relaxed);
  if (table == nullptr || (table->used + 1) * 2 > table->mask) {
    table = grow(table);
    if (table == nullptr) return false;
    table_.store(table, std::memory_order_release);
  }
  Slot& known = slot_of(*table, handle);
  if (known.handle.load(std::memory_order_relaxed) == handle) {
    known.value.store(value, std::memory_order_release);
  } else if (value != 0) {
    Slot& slot = room_for(*table, handle);
    if (slot.handle.load(std::memory_order_relaxed) == nullptr) ++table->used;
    slot.value.store(value, std::memory_order_release);
    slot.handle.store(handle, std::memory_order_release);
  }
  return true;
}

HandleMap::Table* HandleMap::make_table(std::size_t slots) noexcept {
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

HandleMap::Table* HandleMap::grow(const Table* old) noexcept {
  if (old == nullptr) return make_table(kFirstSlots);
  Table* const table = make_table((old->mask + 1) * 2);
  if (table == nullptr) return nullptr;
  for (std::size_t i = 0; i <= old->mask; ++i) {
    const std::uintptr_t value = old->slots[i].value.load();
    if (value == 0) continue;
    Slot& slot = slot_of(*table, old->slots[i].handle.load());
    slot.handle.store(old->slots[i].handle.load());
    slot.value.store(value);
    ++table->used;
  }
  return table;
}

}  // namespace fathom::record::opencl
