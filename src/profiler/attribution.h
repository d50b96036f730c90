#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/interval_set.h"
#include "fathom/figures.h"
#include "profiler/activities.h"
#include "profiler/clock.h"

namespace fathom::detail {

// Sums of one operation's scopes.
struct GpuTotals {
  TimeParts parts;  // its cpu is that of the scopes which GPU work refers to
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

  // Of a scope on a thread; `instance` 0 for one that no work refers to. Its calls are those of its
  // own thread.
  CallFigures figures(std::uint64_t instance, std::int64_t tid, base::Interval wall) const;
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

  const Work& work_of(std::uint64_t instance) const;
  bool is_inside_its_own_kind(const ScopeInstance& scope) const;
  TimeParts parts_of(const Work& work, std::int64_t tid, base::Interval wall) const;
  template <typename F>
  void for_scope_and_those_around(std::uint64_t instance, F&& visit);
  std::int64_t peak_within(base::Interval wall) const;

  bool measured_ = false;
  std::vector<ScopeInstance> scopes_;
  std::unordered_map<std::uint64_t, std::uint64_t> parents_;
  std::unordered_map<std::uint64_t, OperationId> operations_;
  std::unordered_map<std::uint64_t, Work> work_;
  std::unordered_map<std::int64_t, base::IntervalSet> calls_;  // by thread
  std::vector<MemoryLevel> memory_;
  ClockLine clock_;
};

}  // namespace fathom::detail
