#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/export.h"
#include "fathom/results.h"

namespace fathom {

namespace detail {
struct MemoryTrackState;
class MemoryState;
}  // namespace detail

struct MemoryOptions {
  double sample_interval_ms = 1.0;  // of the host's memory; at least 0.1
  bool record_history = true;       // keep a timeline; without it, peaks and leaks alone
};

// Times count from start(). What was not measured is absent.
struct MemorySample {
  double time_ms = 0;
  double allocated_mb = 0;            // on all devices, since start()
  std::optional<double> reserved_mb;  // by allocators that say so, a fathom::MemoryPool for one
  std::optional<double> rss_mb;       // resident memory of the process on the host
};

struct MemoryPeak {
  double peak_allocated_mb = 0;
  double peak_time_ms = 0;
  std::vector<MemoryUse> alive;  // most bytes first
  std::optional<double> peak_rss_mb;
};

// All track()s of one name that have ended.
struct TrackedMemory {
  std::string name;
  std::uint64_t count = 0;
  double change_mb = 0;                 // what they left allocated, all together
  double peak_mb = 0;                   // highest level of device memory during any of them
  std::optional<double> rss_change_mb;  // all together
};

// Ends with its destruction. May be moved, and may outlive the MemoryProfiler.
class FATHOM_API MemoryTrack {
 public:
  MemoryTrack() noexcept;
  ~MemoryTrack();
  MemoryTrack(MemoryTrack&& other) noexcept;
  MemoryTrack& operator=(MemoryTrack&& other) noexcept;
  void end() noexcept;

 private:
  friend class MemoryProfiler;
  explicit MemoryTrack(std::unique_ptr<detail::MemoryTrackState> state) noexcept;
  std::unique_ptr<detail::MemoryTrackState> state_;
};

// Follows memory while the program runs: device allocations as recorders (OpenCL layer, CUDA
// injection, Profiler::record) tell them, and the process's resident memory, sampled on a thread.
//
//   fathom::MemoryProfiler memory;
//   memory.start();
//   { auto loading = memory.track("load model"); load(); }
//   memory.stop();
//   for (const fathom::MemoryUse& leak : memory.leaks()) …
//
// Any number of them, any thread. start, stop and track never throw: what cannot be done is left
// out. A block that was allocated before start() is not counted, nor is its free.
class FATHOM_API MemoryProfiler {
 public:
  explicit MemoryProfiler(const MemoryOptions& options = {});
  ~MemoryProfiler();
  MemoryProfiler(const MemoryProfiler&) = delete;
  MemoryProfiler& operator=(const MemoryProfiler&) = delete;

  void start() noexcept;  // forgets what was measured before
  void stop() noexcept;
  MemoryTrack track(std::string_view name) noexcept;  // a scope of the profiler, too

  // Bounded: once there are too many, neighbours become one, the higher of them.
  std::vector<MemorySample> timeline() const;
  MemoryPeak peak() const;
  std::vector<MemoryUse> leaks() const;  // alive now, or when stopped; most bytes first
  std::vector<TrackedMemory> tracked() const;
  // docs/memory.md has the form. Throws std::runtime_error where the file cannot be written.
  void export_json(const std::string& path) const;

 private:
  std::shared_ptr<detail::MemoryState> state_;
};

}  // namespace fathom
