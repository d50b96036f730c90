#include "profiler/memory_log.h"

#include <algorithm>

namespace fathom::detail {

void MemoryLog::lower(const Block& block) {
  if (is_at_peak_) {
    at_peak_ = alive_;
    is_at_peak_ = false;
  }
  allocated_ -= block.bytes;
  const auto owned = alive_.find(block.owner);
  if (owned == alive_.end()) return;
  owned->second.bytes -= block.bytes;
  if (--owned->second.blocks == 0) alive_.erase(owned);
}

void MemoryLog::add(const MemoryRecord& record, OperationId operation, const Name& call) {
  if (!record.address || record.bytes == 0) {
    if (record.bytes == 0 && record.total_reserved) {
      reserve(record.device, *record.total_reserved);
      add_point({record.time_ns, allocated_, rss_, reserved_});
    }
    return;
  }
  const Address address{record.device, *record.address};
  const auto known = blocks_.find(address);
  if (known != blocks_.end()) {
    lower(known->second);
    blocks_.erase(known);
  } else if (record.bytes < 0) {
    return;  // older than us
  }
  if (record.bytes > 0) {
    const MemoryOwner owner{operation, operation != 0 ? 0 : record.scope.instance, call.id()};
    blocks_[address] = {record.bytes, owner};
    OwnedMemory& owned = alive_[owner];
    owned.bytes += record.bytes;
    ++owned.blocks;
    allocated_ += record.bytes;
  }
  if (record.total_reserved) reserve(record.device, *record.total_reserved);
  const MemoryPoint now{record.time_ns, allocated_, rss_, reserved_};
  if (allocated_ > peak_.allocated) {
    peak_ = now;
    is_at_peak_ = true;
  }
  add_point(now);
}

void MemoryLog::reserve(std::int32_t device, std::int64_t total) {
  std::int64_t& reserved = reserved_on_[device];
  reserved_ = reserved_.value_or(0) + total - reserved;
  reserved = total;
}

void MemoryLog::add_rss(std::int64_t time_ns, std::int64_t rss) {
  const bool is_same = rss_ == rss && !timeline_.empty();
  rss_ = rss;
  peak_rss_ = std::max(peak_rss_.value_or(0), rss);
  if (!is_same) add_point({time_ns, allocated_, rss, reserved_});
}

void MemoryLog::add_point(const MemoryPoint& point) {
  if (!keeps_history_) return;
  if (timeline_.size() >= kMostPoints) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < timeline_.size(); i += 2) {
      const MemoryPoint& a = timeline_[i];
      const MemoryPoint& b = timeline_[i + 1];
      MemoryPoint higher = a.allocated >= b.allocated ? a : b;
      if (a.rss && b.rss) higher.rss = std::max(*a.rss, *b.rss);
      timeline_[kept++] = higher;
    }
    timeline_.resize(kept);
  }
  timeline_.push_back(point);
}

}  // namespace fathom::detail
