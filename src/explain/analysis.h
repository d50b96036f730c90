#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/host_operation.h"
#include "advise/suggestion.h"
#include "analyze/classes/class_times.h"
#include "analyze/critical_path/critical_path.h"
#include "analyze/critical_path/dependencies.h"
#include "analyze/efficiency/efficiency.h"
#include "analyze/flame/flame.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/hta/hta.h"
#include "analyze/memory/memory.h"
#include "analyze/memory/memory_over_time.h"
#include "analyze/operations/launching_operators.h"
#include "analyze/operations/operations.h"
#include "analyze/run/activity.h"
#include "analyze/run/gpu_shares.h"
#include "analyze/run/profile.h"
#include "analyze/run/slices.h"
#include "analyze/run/timeline_stats.h"
#include "analyze/run/wall.h"
#include "base/partition.h"
#include "fathom/session.h"
#include "trace/trace.h"

namespace fathom::explain {

// All that is known about one trace. A fact is worked out when it is first asked for, from the
// facts it needs, and at most once however many ask: commands and reports share one Analysis.
//
// Any number of threads may ask at the same time; who asks for what another thread is working out
// waits for it. What is returned stays as it is, and where it is, as long as the Analysis, which
// the trace must outlive unchanged.
class Analysis {
 public:
  // `source` is the file's name; `peaks` are what the user says of the GPUs, `host_time` what is
  // known of the host.
  Analysis(const trace::Trace& trace, std::string source, const analyze::DevicePeaks& peaks = {},
           advise::HostTime host_time = {});
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  const trace::Trace& trace() const { return trace_; }
  const std::string& source() const { return source_; }

  const analyze::Activity& activity() const;
  const analyze::TimelineStats& timeline_stats() const;
  const std::vector<analyze::Operation>& operations() const;         // most self time first
  const std::vector<analyze::RankedOperation>& bottlenecks() const;  // the first five
  const std::vector<trace::SpanId>& steps() const;
  const std::vector<double>& scope_shares() const;  // of Trace::operations
  const base::TimeSplit& whole_machine() const;     // where the time of any window went
  const TimeParts& recorded_parts() const;          // where the time from first to last event went
  const analyze::TimeSlices& slices() const;
  const analyze::FlameTree& flame() const;
  const analyze::Memory& memory() const;
  const std::vector<analyze::MemoryOverTime>& memory_over_time() const;  // of its devices
  const analyze::ProfileFindings& profile() const;  // of a profile JSON (is_profile)

  const analyze::GpuWork& gpu_work() const;
  const std::vector<analyze::ClassTime>& classes() const;  // of all GPU work, most time first
  // Of the work of all steps, or of what `hta` counts.
  const std::vector<analyze::LaunchingOperator>& launching_operators(bool all_steps = true) const;
  const analyze::Wall& wall() const;                             // the run: when it began and ended
  const analyze::RunShares& run_shares() const;                  // and what each GPU did in it
  const std::vector<analyze::Efficiency>& efficiencies() const;  // of each GPU
  const analyze::Efficiency& efficiency() const;                 // of all GPUs together
  const analyze::Dependencies& dependencies() const;
  const analyze::CriticalPath& critical_path() const;
  const std::vector<analyze::PathSegment>& path_segments() const;  // of it

  // With `all`, those that bring less than 3 %, too.
  const advise::Suggestions& suggestions(bool all = false) const;

  // Of each GPU; works on several threads.
  const std::vector<analyze::RankFindings>& hta(const analyze::HtaOptions& options) const;

  // Of a run that Fathom recorded; of others, its time alone.
  const ProfileSession& session() const;

  // What has been worked out so far, by name, in the order in which it was asked for.
  std::vector<std::string_view> worked_out() const;

 private:
  template <typename Fact>
  struct Once {
    std::once_flag asked;
    std::optional<Fact> fact;
  };
  // Without the last step, where one is to be left out; nothing where that is all work.
  std::optional<analyze::GpuWork> windowed_work(bool all_steps) const;

  template <typename Fact, typename WorkOut>
  const Fact& get(Once<Fact>& once, std::string_view name, const WorkOut& work_out) const;

  const trace::Trace& trace_;
  std::string source_;
  analyze::DevicePeaks peaks_;
  advise::HostTime host_time_;
  mutable std::mutex log_lock_;
  mutable std::vector<std::string_view> log_;

  mutable Once<analyze::Activity> activity_;
  mutable Once<analyze::TimelineStats> timeline_stats_;
  mutable Once<std::vector<analyze::Operation>> operations_;
  mutable Once<std::vector<analyze::RankedOperation>> bottlenecks_;
  mutable Once<std::vector<trace::SpanId>> steps_;
  mutable Once<std::vector<double>> scope_shares_;
  mutable Once<base::TimeSplit> whole_machine_;
  mutable Once<TimeParts> recorded_parts_;
  mutable Once<analyze::TimeSlices> slices_;
  mutable Once<analyze::FlameTree> flame_;
  mutable Once<analyze::Memory> memory_;
  mutable Once<std::vector<analyze::MemoryOverTime>> memory_over_time_;
  mutable Once<analyze::ProfileFindings> profile_;
  mutable Once<analyze::GpuWork> gpu_work_;
  mutable Once<std::vector<analyze::ClassTime>> classes_;
  mutable std::array<Once<std::vector<analyze::LaunchingOperator>>, 2> launching_operators_;
  mutable Once<analyze::Wall> wall_;
  mutable Once<analyze::RunShares> run_shares_;
  mutable Once<std::vector<analyze::Efficiency>> efficiencies_;
  mutable Once<analyze::Efficiency> efficiency_;
  mutable Once<analyze::Dependencies> dependencies_;
  mutable Once<analyze::CriticalPath> critical_path_;
  mutable Once<std::vector<analyze::PathSegment>> path_segments_;
  mutable std::array<Once<advise::Suggestions>, 2> suggestions_;         // by `all`
  mutable std::array<Once<std::vector<analyze::RankFindings>>, 4> hta_;  // by options
  mutable Once<ProfileSession> session_;
};

}  // namespace fathom::explain
