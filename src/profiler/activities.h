#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "fathom/activity.h"
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
    std::vector<GpuDevice> devices;
  };

  // True when the run file should be written soon.
  bool add(const GpuActivity& activity) noexcept;
  void add(const MemoryRecord& record) noexcept;
  void add(const GpuDevice& device) noexcept;
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
  // pages: what a slow disk has let pile up is given back, not kept by malloc for later.
  struct Unmap {
    void operator()(std::uint64_t* words) const noexcept;
  };
  struct Block {
    std::unique_ptr<std::uint64_t[], Unmap> words;
    std::size_t used = 0;
  };
  struct Stream {
    std::vector<Block> activities;
    std::vector<MemoryRecord> memory;
    std::vector<GpuDevice> devices;
  };
  void set_streaming(bool on) noexcept;
  void take_stream(Stream& into) noexcept;  // what was in it is thrown away

  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  template <typename T>
  void keep(std::vector<T>& kept, const T& record) noexcept;
  template <typename T>
  void stream(std::vector<T>& stream, const T& record) noexcept;
  bool stream(const GpuActivity& activity) noexcept;
  Block new_block();

  mutable std::mutex mutex_;
  Content content_;
  Stream stream_;
  std::vector<Block> spare_;
  std::unordered_set<OperationId> gpu_operations_;
  bool streaming_ = false;
  std::size_t limit_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t unwritten_ = 0;
  std::atomic<std::uint64_t> instances_ = 0;
};

}  // namespace fathom::detail
