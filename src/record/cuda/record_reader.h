#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "record/cuda/activity_records.h"
#include "record/cuda/clock_map.h"
#include "record/cuda/launch_links.h"

namespace fathom::record::cuda {

// Where activities go: the profiler, or a test.
struct Sink {
  std::function<void(const GpuActivity&)> activity;
  std::function<void(const MemoryRecord&)> memory;
};

// What was seen and could not be used. Each is a count of records, but for the last.
struct Losses {
  std::uint64_t untimed = 0;     // CUPTI could not take the time
  std::uint64_t unfinished = 0;  // still going on when the program ended
  std::uint64_t unknown = 0;     // of a kind that nobody asked for
  std::uint64_t cut = 0;         // larger than the rest of the buffer
  std::uint64_t dropped = 0;     // CUPTI had no buffer for them, and says so
  std::uint64_t unreadable_buffers = 0;

  std::uint64_t total() const {
    return untimed + unfinished + unknown + cut + dropped + unreadable_buffers;
  }
  bool operator==(const Losses&) const = default;
};

// Reads records one after the other: tells their kind, puts them on our clock, finds the scope and
// thread that launched them, and hands them on. One thread at a time.
class RecordReader {
 public:
  RecordReader(CallName call_name, LaunchLinks& links, Sink sink)
      : call_name_(call_name), links_(links), sink_(std::move(sink)) {}

  // `available` bytes of the buffer are left from `record` on.
  void read(const CUpti_Activity* record, std::size_t available);

  ClockMap& clock() { return clock_; }
  Losses& losses() { return losses_; }
  // Whether overhead records carry memory that is ours to free (Overhead3).
  void frees_overhead_data(bool does) { frees_overhead_data_ = does; }

 private:
  template <typename Record, typename Use>
  void with(const CUpti_Activity* record, std::size_t available, Use use);
  void hand_on(GpuActivity activity);
  void read_overhead(const CUpti_Activity* record, std::size_t available);
  void read_memory(const MemoryRecordOfCupti& record);

  CallName call_name_;
  LaunchLinks& links_;
  Sink sink_;
  ClockMap clock_;
  KernelNames names_;
  Losses losses_;
  bool frees_overhead_data_ = false;
  std::unordered_map<std::uint64_t, std::int64_t> alive_;  // bytes by address
};

}  // namespace fathom::record::cuda
