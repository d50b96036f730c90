#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fathom/memory.h"
#include "fathom/profiler.h"
#include "profiler/memory_log.h"

namespace fathom::detail {

// Hands a record to every MemoryProfiler that has been started. `operation` is that of its scope,
// or 0 where that is not known yet. Costs a load where there is none.
void feed_memory(const MemoryRecord& record, OperationId operation) noexcept;
bool memory_is_followed() noexcept;

// What a MemoryProfiler is inside. Everything below `mutex` is under it.
class MemoryState : public std::enable_shared_from_this<MemoryState> {
 public:
  explicit MemoryState(const MemoryOptions& options);
  ~MemoryState();

  void start() noexcept;
  void stop() noexcept;
  // In a forked child: it has no sampler, and nobody waits for or holds what only the parent's
  // threads could let go of.
  void start_over_in_child() noexcept;
  void take(const MemoryRecord& record, OperationId operation) noexcept;

  // Of tracks that are open.
  struct Track {
    std::int64_t allocated = 0;
    std::int64_t highest = 0;
    std::optional<std::int64_t> rss;
  };
  struct Tracked {
    std::uint64_t count = 0;
    std::int64_t change = 0;
    std::int64_t highest = 0;
    std::optional<std::int64_t> rss_change;
  };
  Track* begin_track() noexcept;
  void end_track(Track* track, const std::string& name) noexcept;

  const MemoryOptions options;
  mutable std::mutex mutex;
  MemoryLog log;
  std::int64_t start_ns = 0;
  std::vector<std::unique_ptr<Track>> open_tracks;
  std::map<std::string, Tracked> tracked;

 private:
  void sample();

  std::mutex running_;  // start and stop, one at a time
  std::thread sampler_;
  std::condition_variable wake_;
  bool stopping_ = false;
};

struct MemoryTrackState {
  std::shared_ptr<MemoryState> owner;
  MemoryState::Track* track = nullptr;
  std::string name;
  Scope scope;
};

}  // namespace fathom::detail
