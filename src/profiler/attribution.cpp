#include "profiler/attribution.h"

#include <algorithm>

#include "base/partition.h"

namespace fathom::detail {

Attribution::Attribution(const ActivityLog::Content& content, const ClockLine& clock,
                         std::optional<std::int32_t> device)
    : measured_(content.has_reports || !content.memory.empty()),
      scopes_(content.scopes),
      clock_(clock) {
  for (const ScopeInstance& scope : scopes_) {
    parents_[scope.instance] = scope.parent;
    operations_[scope.instance] = scope.operation;
  }
  for (const GpuActivity& activity : content.activities) {
    const base::Interval time{activity.start_ns, activity.end_ns};
    switch (activity.kind) {
      case ActivityKind::api_call:
      case ActivityKind::sync:
        if (activity.thread) calls_[*activity.thread].push_back(time);
        break;
      case ActivityKind::kernel:
      case ActivityKind::fill:
        if (device && activity.device != *device) break;
        for_scope_and_those_around(activity.scope.instance,
                                   [&](Work& work) { work.kernels.push_back(time); });
        break;
      case ActivityKind::copy:
        if (device && activity.device != *device) break;
        for_scope_and_those_around(activity.scope.instance, [&](Work& work) {
          work.copies.push_back(time);
          work.copied_bytes += activity.bytes.value_or(0);
        });
        break;
      case ActivityKind::other:
        break;
    }
  }
  for (auto& [instance, work] : work_) {
    work.kernels = base::normalize(std::move(work.kernels));
    work.copies = base::normalize(std::move(work.copies));
  }
  for (auto& [thread, calls] : calls_) calls = base::normalize(std::move(calls));

  std::vector<MemoryRecord> records;
  for (const MemoryRecord& record : content.memory) {
    if (device && record.device != *device) continue;
    records.push_back(record);
    if (record.bytes <= 0) continue;
    for_scope_and_those_around(record.scope.instance,
                               [&](Work& work) { work.allocated_bytes += record.bytes; });
  }
  std::stable_sort(
      records.begin(), records.end(),
      [](const MemoryRecord& a, const MemoryRecord& b) { return a.time_ns < b.time_ns; });
  std::int64_t in_use = 0;
  for (const MemoryRecord& record : records) {
    memory_.push_back({record.time_ns, in_use += record.bytes});
  }
}

template <typename F>
void Attribution::for_scope_and_those_around(std::uint64_t instance, F&& visit) {
  while (instance != 0) {
    visit(work_[instance]);
    const auto parent = parents_.find(instance);
    instance = parent != parents_.end() ? parent->second : 0;
  }
}

std::int64_t Attribution::peak_within(base::Interval wall) const {
  // What was in use when it began, and every level until it ended.
  auto at = std::partition_point(memory_.begin(), memory_.end(), [&](const MemoryLevel& level) {
    return level.time_ns <= wall.begin;
  });
  std::int64_t peak = at != memory_.begin() ? std::prev(at)->bytes : 0;
  for (; at != memory_.end() && at->time_ns < wall.end; ++at) peak = std::max(peak, at->bytes);
  return peak;
}

const Attribution::Work& Attribution::work_of(std::uint64_t instance) const {
  static const Work none;
  const auto found = work_.find(instance);
  return found != work_.end() ? found->second : none;
}

TimeParts Attribution::parts_of(const Work& work, std::int64_t tid, base::Interval wall) const {
  static const base::IntervalSet none;
  const auto calls = calls_.find(tid);
  return base::partition_time(wall, work.kernels, work.copies,
                              calls != calls_.end() ? calls->second : none);
}

CallFigures Attribution::figures(std::uint64_t instance, std::int64_t tid,
                                 base::Interval wall) const {
  const Work& work = work_of(instance);
  CallFigures figures;
  figures.duration_ns = wall.length();
  figures.set_parts(parts_of(work, tid, wall));
  figures.copied_bytes = work.copied_bytes;
  if (!memory_.empty()) {
    figures.memory_allocated_bytes = work.allocated_bytes;
    figures.memory_peak_bytes = peak_within(wall);
  }
  return figures;
}

bool Attribution::is_inside_its_own_kind(const ScopeInstance& scope) const {
  for (std::uint64_t around = scope.parent; around != 0;) {
    const auto found = operations_.find(around);
    if (found != operations_.end() && found->second == scope.operation) return true;
    const auto parent = parents_.find(around);
    around = parent != parents_.end() ? parent->second : 0;
  }
  return false;
}

std::unordered_map<OperationId, GpuTotals> Attribution::totals() const {
  std::unordered_map<OperationId, GpuTotals> all;
  for (const ScopeInstance& scope : scopes_) {
    const base::Interval wall{clock_.ns(scope.start), clock_.ns(scope.end)};
    const Work& work = work_of(scope.instance);
    GpuTotals& totals = all[scope.operation];
    ++totals.scopes;
    if (is_inside_its_own_kind(scope)) continue;  // the one around has all of it
    totals.parts += parts_of(work, scope.tid, wall);
    if (memory_.empty()) continue;
    totals.allocated_bytes = totals.allocated_bytes.value_or(0) + work.allocated_bytes;
    totals.peak_bytes = std::max(totals.peak_bytes.value_or(0), peak_within(wall));
  }
  return all;
}

}  // namespace fathom::detail
