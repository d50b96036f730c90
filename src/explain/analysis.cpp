#include "explain/analysis.h"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "advise/suggest.h"
#include "analyze/critical_path/path_segments.h"
#include "analyze/operations/steps.h"
#include "analyze/run/session.h"
#include "analyze/run/split.h"
#include "base/error.h"
#include "base/format.h"

namespace fathom::explain {
namespace {

constexpr std::size_t kBottlenecks = 5;
// Each GPU has a critical path and steps of its own in what is found, so their number is a factor
// of it. More than any machine has; a file that says otherwise was made to hurt.
constexpr std::size_t kMostGpus = 4096;

}  // namespace

Analysis::Analysis(const trace::Trace& trace, std::string source, const analyze::DevicePeaks& peaks,
                   advise::HostTime host_time)
    : trace_(trace), source_(std::move(source)), peaks_(peaks), host_time_(std::move(host_time)) {}

template <typename Fact, typename WorkOut>
const Fact& Analysis::get(Once<Fact>& once, std::string_view name, const WorkOut& work_out) const {
  std::call_once(once.asked, [&] {
    {
      const std::scoped_lock lock(log_lock_);
      log_.push_back(name);
    }
    once.fact.emplace(work_out());
  });
  return *once.fact;
}

const analyze::Activity& Analysis::activity() const {
  return get(activity_, "activity", [&] { return analyze::activity(trace_); });
}

const analyze::TimelineStats& Analysis::timeline_stats() const {
  return get(timeline_stats_, "timeline_stats", [&] { return analyze::timeline_stats(trace_); });
}

const std::vector<analyze::Operation>& Analysis::operations() const {
  return get(operations_, "operations", [&] {
    return analyze::operations(trace_, analyze::classes_by_name(trace_, gpu_work()));
  });
}

const std::vector<analyze::RankedOperation>& Analysis::bottlenecks() const {
  return get(bottlenecks_, "bottlenecks",
             [&] { return analyze::bottlenecks(operations(), kBottlenecks, trace_.operations); });
}

const std::vector<trace::SpanId>& Analysis::steps() const {
  return get(steps_, "steps", [&] { return analyze::step_spans(trace_); });
}

const std::vector<double>& Analysis::scope_shares() const {
  return get(scope_shares_, "scope_shares",
             [&] { return analyze::weight_shares(trace_.operations); });
}

const base::TimeSplit& Analysis::whole_machine() const {
  return get(whole_machine_, "whole_machine", [&] { return analyze::whole_machine(trace_); });
}

const TimeParts& Analysis::recorded_parts() const {
  return get(recorded_parts_, "recorded_parts", [&] {
    return whole_machine().within({activity().begin_ns, activity().end_ns});
  });
}

const analyze::TimeSlices& Analysis::slices() const {
  return get(slices_, "slices", [&] {
    return analyze::time_slices(trace_, whole_machine(), gpu_work(), steps(),
                                {activity().begin_ns, activity().end_ns});
  });
}

const analyze::FlameTree& Analysis::flame() const {
  return get(flame_, "flame", [&] { return analyze::flame_tree(trace_); });
}

const analyze::Memory& Analysis::memory() const {
  return get(memory_, "memory", [&] { return analyze::memory(trace_); });
}

const std::vector<analyze::MemoryOverTime>& Analysis::memory_over_time() const {
  return get(memory_over_time_, "memory_over_time", [&] {
    std::vector<analyze::MemoryOverTime> found;
    for (const analyze::DeviceMemory& device : memory().devices) {
      found.push_back(analyze::memory_over_time(trace_, memory(), device));
    }
    return found;
  });
}

const analyze::ProfileFindings& Analysis::profile() const {
  return get(profile_, "profile", [&] { return analyze::profile_findings(trace_); });
}

const analyze::GpuWork& Analysis::gpu_work() const {
  return get(gpu_work_, "gpu_work", [&] { return analyze::gpu_work(trace_); });
}

const std::vector<analyze::ClassTime>& Analysis::classes() const {
  return get(classes_, "classes", [&] { return analyze::class_times(gpu_work()); });
}

std::optional<analyze::GpuWork> Analysis::windowed_work(bool all_steps) const {
  const auto end = all_steps ? std::nullopt : analyze::whole_steps_end(trace_, steps());
  if (!end) return std::nullopt;
  return analyze::launched_before(trace_, gpu_work(), *end);
}

const std::vector<analyze::LaunchingOperator>& Analysis::launching_operators(bool all_steps) const {
  return get(launching_operators_[all_steps ? 1 : 0], "launching_operators", [&] {
    const std::optional<analyze::GpuWork> windowed = windowed_work(all_steps);
    return analyze::launching_operators(trace_, windowed ? *windowed : gpu_work());
  });
}

const analyze::Wall& Analysis::wall() const {
  return get(wall_, "wall", [&] { return analyze::wall(trace_, gpu_work(), steps()); });
}

const analyze::RunShares& Analysis::run_shares() const {
  return get(run_shares_, "run_shares",
             [&] { return analyze::run_shares(trace_, gpu_work(), wall(), steps()); });
}

const std::vector<analyze::Efficiency>& Analysis::efficiencies() const {
  return get(efficiencies_, "efficiencies",
             [&] { return analyze::efficiencies(trace_, gpu_work(), steps(), peaks_); });
}

const analyze::Efficiency& Analysis::efficiency() const {
  if (efficiencies().size() == 1) return efficiencies().front();
  return get(efficiency_, "efficiency", [&] { return analyze::join(efficiencies()); });
}

const analyze::Dependencies& Analysis::dependencies() const {
  return get(dependencies_, "dependencies", [&] {
    auto host = std::async(std::launch::async, [&] { return analyze::host_lines(trace_); });
    const analyze::GpuWork& work = gpu_work();
    return analyze::dependencies(trace_, work, host.get());
  });
}

const analyze::CriticalPath& Analysis::critical_path() const {
  return get(critical_path_, "critical_path",
             [&] { return analyze::critical_path(trace_, dependencies(), wall()); });
}

const std::vector<analyze::PathSegment>& Analysis::path_segments() const {
  return get(path_segments_, "path_segments",
             [&] { return analyze::path_segments(trace_, dependencies()); });
}

const advise::Suggestions& Analysis::suggestions(bool all) const {
  return get(suggestions_[all ? 1 : 0], all ? "all suggestions" : "suggestions", [&] {
    if (analyze::is_profile(trace_)) return advise::suggest(profile().scopes, all);
    auto on = std::async(std::launch::async, [&] { dependencies(); });
    wall();
    on.get();
    return advise::suggest(trace_, dependencies(), wall(), all, host_time_, peaks_);
  });
}

const std::vector<analyze::RankFindings>& Analysis::hta(const analyze::HtaOptions& options) const {
  const std::size_t which = (options.all_steps ? 1U : 0U) + (options.many_ranks ? 2U : 0U);
  return get(hta_[which], "hta", [&] {
    auto path = std::async(std::launch::async, [&] { critical_path(); });
    const std::optional<analyze::GpuWork> windowed = windowed_work(options.all_steps);
    const analyze::GpuWork& work = windowed ? *windowed : gpu_work();
    if (work.devices.size() > kMostGpus) {
      throw base::Error(source_, fmt::format("names {} GPUs; at most {} can be analyzed",
                                             base::format_count(work.devices.size()),
                                             base::format_count(kMostGpus)));
    }
    auto used = std::async(std::launch::async, [&] { efficiencies(); });
    std::vector<analyze::RankFindings> found =
        analyze::holistic(trace_, source_, work, steps().size(), options.many_ranks);
    analyze::add_run_shares(found, run_shares());
    used.get();
    analyze::add_efficiency(found, gpu_work(), efficiencies());
    path.get();
    analyze::add_critical_path(found, critical_path());
    analyze::add_blocked_launches(found, trace_, dependencies());
    return found;
  });
}

const ProfileSession& Analysis::session() const {
  return get(session_, "session", [&] {
    if (analyze::is_fathom_run(trace_)) {
      return analyze::session(trace_, wall().time, whole_machine(), operations(), memory(),
                              source_);
    }
    ProfileSession time_alone;
    time_alone.total_ns = wall().length_ns();
    return time_alone;
  });
}

std::vector<std::string_view> Analysis::worked_out() const {
  const std::scoped_lock lock(log_lock_);
  return log_;
}

}  // namespace fathom::explain
