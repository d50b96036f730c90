#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fathom::record::opencl {

// OpenCL handles to what we know of them. Looking up takes no lock; setting does. Handles are
// reused by drivers once their object is gone: whoever sees an object created sets it anew, so a
// stale entry is never read. Tables that were outgrown stay readable for those still in them; all
// of them together are smaller than the last. Never destroyed.
class HandleMap {
 public:
  // The value set last, or 0.
  std::uintptr_t find(const void* handle) const noexcept;

  // False when memory ran out: nothing is changed then. A value of 0 removes.
  bool set(const void* handle, std::uintptr_t value) noexcept;

  // Around a fork, so that the child finds the lock free.
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }

 private:
  struct Slot {
    std::atomic<const void*> handle = nullptr;
    std::atomic<std::uintptr_t> value = 0;
  };
  struct Table {
    std::size_t mask = 0;
    std::size_t used = 0;
    Slot* slots = nullptr;
  };

  static Slot& slot_of(const Table& table, const void* handle) noexcept;
  static Slot& room_for(const Table& table, const void* handle) noexcept;
  static Table* make_table(std::size_t slots) noexcept;
  Table* grow(const Table* old) noexcept;

  std::atomic<Table*> table_ = nullptr;
  std::mutex lock_;
};

}  // namespace fathom::record::opencl
