#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/interval_set.h"
#include "base/partition.h"
#include "profiler/activities.h"
#include "profiler/clock.h"

namespace fathom::detail {

// What GPU activity says about one scope. Times in nanoseconds.
struct GpuFigures {
  base::TimeParts parts;
  std::uint64_t copied_bytes = 0;
  std::optional<std::int64_t> allocated_bytes;  // by it; absent where no memory was recorded
  std::optional<std::int64_t> peak_bytes;       // in use on the device while it ran
};

// Sums of one operation's scopes.
struct GpuTotals {
  base::TimeParts parts;  // its cpu is that of the scopes which GPU work refers to
  std::uint64_t scopes = 0;
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> peak_bytes;
};

// GPU work belongs to the scope that was innermost when it was launched, and to those around it,
// because their wall time contains it.
class Attribution {
 public:
  Attribution(const ActivityLog::Content& content, const ClockLine& clock,
              std::optional<std::int32_t> device);

  // False when no recorder has reported anything: then nothing is known about any scope.
  bool measured() const { return measured_; }

  // Of a scope on a thread; `instance` 0 for one that no work refers to.
  GpuFigures figures(std::uint64_t instance, std::int64_t tid, base::Interval wall) const;
  std::unordered_map<OperationId, GpuTotals> totals() const;

 private:
  struct Work {
    std::vector<base::Interval> kernels;
    std::vector<base::Interval> copies;
    std::uint64_t copied_bytes = 0;
    std::int64_t allocated_bytes = 0;
  };
  struct MemoryLevel {
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  // in use from then on
  };

  template <typename F>
  void for_scope_and_those_around(std::uint64_t instance, F&& visit);
  std::int64_t peak_within(base::Interval wall) const;

  bool measured_ = false;
  std::vector<ScopeInstance> scopes_;
  std::unordered_map<std::uint64_t, std::uint64_t> parents_;
  std::unordered_map<std::uint64_t, Work> work_;
  std::unordered_map<std::int64_t, base::IntervalSet> calls_;  // by thread
  std::vector<MemoryLevel> memory_;
  ClockLine clock_;
};

}  // namespace fathom::detail
