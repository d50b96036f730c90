#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fathom/activity.h"
#include "profiler/operations.h"

namespace fathom::detail {

// Who allocated. The scope's operation is known at once where the allocating thread tells; else its
// instance is kept, for the operation to be looked up when somebody asks.
struct MemoryOwner {
  OperationId operation = 0;
  std::uint64_t instance = 0;  // 0 where the operation is known, or there was no scope
  std::uint32_t call = 0;      // id of a Name
  bool operator==(const MemoryOwner&) const = default;
  bool operator<(const MemoryOwner& other) const {
    return std::tie(operation, instance, call) <
           std::tie(other.operation, other.instance, other.call);
  }
};

struct OwnedMemory {
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct MemoryPoint {
  std::int64_t time_ns = 0;
  std::int64_t allocated = 0;
  std::optional<std::int64_t> rss;
  std::optional<std::int64_t> reserved;  // by allocators that say so
};

// Blocks alive, the peak and what was alive then, and a bounded timeline. One thread at a time.
class MemoryLog {
 public:
  using Owned = std::map<MemoryOwner, OwnedMemory>;

  explicit MemoryLog(bool keeps_history = true) : keeps_history_(keeps_history) {}

  void add(const MemoryRecord& record, OperationId operation, const Name& call);
  void add_rss(std::int64_t time_ns, std::int64_t rss);

  std::int64_t allocated() const { return allocated_; }
  const std::vector<MemoryPoint>& timeline() const { return timeline_; }
  const MemoryPoint& peak() const { return peak_; }
  const Owned& at_peak() const { return is_at_peak_ ? alive_ : at_peak_; }
  const Owned& alive() const { return alive_; }
  std::optional<std::int64_t> peak_rss() const { return peak_rss_; }

  static constexpr std::size_t kMostPoints = 1 << 17;

 private:
  struct Block {
    std::int64_t bytes = 0;
    MemoryOwner owner;
  };
  struct Address {
    std::int32_t device = 0;
    std::uint64_t address = 0;
    bool operator==(const Address&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Address& key) const {
      return (key.address ^ static_cast<std::uint64_t>(key.device) << 56) * 0x9E3779B97F4A7C15;
    }
  };

  void reserve(std::int32_t device, std::int64_t total);
  void lower(const Block& block);
  void add_point(const MemoryPoint& point);

  bool keeps_history_;
  std::unordered_map<Address, Block, Hash> blocks_;
  Owned alive_;
  std::int64_t allocated_ = 0;
  MemoryPoint peak_;
  bool is_at_peak_ = true;  // nothing was freed since: what is alive is what was alive then
  Owned at_peak_;
  std::map<std::int32_t, std::int64_t> reserved_on_;  // by device
  std::optional<std::int64_t> reserved_;
  std::optional<std::int64_t> rss_;
  std::optional<std::int64_t> peak_rss_;
  std::vector<MemoryPoint> timeline_;
};

}  // namespace fathom::detail
