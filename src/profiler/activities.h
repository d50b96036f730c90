#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "fathom/activity.h"
#include "profiler/activity_words.h"
#include "profiler/operations.h"

namespace fathom::detail {

// A scope that GPU work refers to, once it has ended. Those around it are such scopes too.
struct ScopeInstance {
  std::uint64_t instance = 0;
  std::uint64_t parent = 0;  // instance around it; 0 for none
  OperationId operation = 0;
  std::int64_t tid = 0;
  std::uint64_t start = 0;  // ticks
  std::uint64_t end = 0;
};

// Everything that recorders have reported. Bounded; any thread.
class ActivityLog {
 public:
  struct Content {
    bool has_reports = false;  // of anything at all
    std::vector<GpuActivity> activities;
    std::vector<MemoryRecord> memory;
    std::vector<ScopeInstance> scopes;
    std::vector<DeviceRecord> devices;
  };

  // True when the run file should be written soon.
  bool add(const GpuActivity& activity) noexcept;
  void add(const MemoryRecord& record) noexcept;
  void add(const DeviceRecord& device) noexcept;
  void count_lost(std::uint64_t count) noexcept;
  void add(const ScopeInstance& scope) noexcept;
  void add_gpu_operation(OperationId operation) noexcept;  // a scope said that it is for the GPU

  std::uint64_t next_instance() noexcept { return instances_.fetch_add(1) + 1; }
  std::uint64_t dropped() const;
  std::uint64_t unwritten() const;  // of those, what a run file lacks
  Content content() const;
  bool has_reports() const;  // of anything at all
  bool is_gpu_operation(OperationId operation) const;

  void set_limit(std::size_t each) noexcept;
  void clear() noexcept;

  // For the run file: what came since it was last asked, while anybody asks. Blocks are as they
  // are in activity_words.h, one after the other, and are used again. They are the system's own
  // pages, or the live file's: what a slow disk has let pile up is given back, not kept by malloc
  // for later.
  struct Unmap {
    LiveFile* live = nullptr;
    void operator()(ActivityBlock* block) const noexcept;
  };
  using Block = std::unique_ptr<ActivityBlock, Unmap>;
  struct Stream {
    std::vector<Block> blocks;
    std::uint64_t last_number() const { return blocks.empty() ? 0 : blocks.back()->number; }
  };
  void set_streaming(bool on) noexcept;
  void set_live(LiveFile* live) noexcept;
  void start_over_in_child() noexcept;      // does not stream any more
  void take_stream(Stream& into) noexcept;  // what was in it is thrown away

  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  template <typename T>
  void keep(std::vector<T>& kept, const T& record) noexcept;
  template <typename T>
  bool stream(const T& record) noexcept;
  Block new_block();

  mutable std::mutex mutex_;
  Content content_;
  Stream stream_;
  std::vector<Block> spare_;
  std::unordered_set<OperationId> gpu_operations_;
  bool streaming_ = false;
  LiveFile* live_ = nullptr;
  std::uint64_t blocks_ = 0;  // so far
  std::size_t limit_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t unwritten_ = 0;
  std::atomic<std::uint64_t> instances_ = 0;
};

}  // namespace fathom::detail
