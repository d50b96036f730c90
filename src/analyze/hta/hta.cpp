#include "analyze/hta/hta.h"
#include "analyze/ranks/rank_name.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "analyze/hta/device_info.h"
#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

void analyze_device(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                    NamePlaces& places, RankFindings& found) {
  found.times = busy_times(work, device);
  found.device = device.device;
  if (const auto* info = device_info(trace, device.device)) found.device_name = info->name;
  found.temporal = temporal(found.times);
  found.idle = idle_of_device(trace, work, device);
  found.idle_streams = idle_by_stream(trace, work, device);
  found.kernel_types = kernel_types(found.times);
  found.kernels = kernels(trace, work, device, places);
  found.classes = class_times(work, device);
  found.comm_comp_overlap_pct = comm_comp_overlap_pct(found.times);
  found.launches = launches(trace, work, device, places);
  for (const GpuStream& stream : work.of(device)) {
    for (const WorkRow& row : work.of(stream)) {
      if (row.launch == trace::kNoSpan) ++found.unlinked_work;
    }
  }
  found.queues = queue_lengths(trace, work, device);
  found.bandwidths = bandwidths(trace, work, device);
}

}  // namespace

std::vector<RankFindings> holistic(const trace::Trace& trace, const std::string& source,
                                   const HtaOptions& options) {
  const std::vector<trace::SpanId> steps = step_spans(trace);
  const GpuWork work =
      gpu_work(trace, options.all_steps ? std::nullopt : whole_steps_end(trace, steps));
  std::vector<RankFindings> found = holistic(trace, source, work, steps.size(), options.many_ranks);
  const GpuWork all = gpu_work(trace);
  add_run_shares(found, run_shares(trace, all, wall(trace, all, steps), steps));
  const Dependencies on = dependencies(trace, all);
  add_critical_path(found, critical_path(trace, on, wall(trace)));
  add_blocked_launches(found, trace, on);
  return found;
}

std::vector<RankFindings> holistic(const trace::Trace& trace, const std::string& source,
                                   const GpuWork& work, std::uint64_t steps, bool many_ranks) {
  RankFindings run;
  run.source = source;
  run.rank = trace.run.rank ? trace.run.rank : rank_in_name(source);
  run.world_size = trace.run.world_size;
  run.steps = steps;
  run.leaves_out_last_step = work.launched_before_ns.has_value();
  std::vector<RankFindings> found(std::max<std::size_t>(work.devices.size(), 1), run);
  NamePlaces places(trace.names.size() * kWorkTypeNames.size());
  std::vector<std::vector<Annotation>> annotated = annotations(trace, work);
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    analyze_device(trace, work, work.devices[i], places, found[i]);
    found[i].annotations = std::move(annotated[i]);
  }
  if (many_ranks || work.devices.size() > 1) {
    std::vector<RankRun> runs = rank_runs(trace, work);
    for (std::size_t i = 0; i < runs.size(); ++i) found[i].run = std::move(runs[i]);
  }
  for (RankFindings& one : found) one.run.rank = one.rank;
  return found;
}

std::optional<Temporal> temporal_of_run(const RankFindings& rank) {
  if (!rank.in_run) return std::nullopt;
  const GpuShares& gpu = rank.in_run->gpus.front();
  return Temporal{gpu.wall_ns, gpu.idle_ns, gpu.compute_ns, gpu.communication.ns, gpu.copy.ns};
}

void add_run_shares(std::vector<RankFindings>& ranks, const RunShares& run) {
  std::size_t next = 0;  // both are in the order of the devices; a window may leave some out
  for (RankFindings& one : ranks) {
    if (!one.temporal) continue;
    while (next < run.gpus.size() && run.gpus[next].device != one.device) ++next;
    if (next == run.gpus.size()) return;
    one.in_run = RunShares{run.wall, {run.gpus[next++]}, run.steps, run.step_ns};
  }
}

void add_efficiency(std::vector<RankFindings>& ranks, const GpuWork& work,
                    const std::vector<Efficiency>& used) {
  std::size_t next = 0;  // as above
  for (RankFindings& one : ranks) {
    while (next < used.size() && work.devices[next].device != one.device) ++next;
    if (next == used.size()) return;
    one.efficiency = used[next++];
    for (KernelStats& kernel : one.kernels) {
      if (const NameFigures* known = one.efficiency.of(kernel.name)) kernel.figures = *known;
    }
  }
}

void add_critical_path(std::vector<RankFindings>& ranks, const CriticalPath& path) {
  const auto shared = std::make_shared<const CriticalPath>(path);
  for (RankFindings& one : ranks) one.critical_path = shared;
}

void add_blocked_launches(std::vector<RankFindings>& ranks, const trace::Trace& trace,
                          const Dependencies& dependencies) {
  for (const QueueWait& wait : dependencies.queue_waits) {
    const trace::SpanId work = dependencies.gpu.rows[wait.on].span;
    const std::optional<std::int64_t> device = trace.tracks[trace.spans.track[work]].device;
    for (RankFindings& one : ranks) {
      if (one.device != device) continue;
      ++one.blocked_launches;
      one.blocked_launch_ns += trace.spans.duration_ns[wait.call];
      break;
    }
  }
}

}  // namespace fathom::analyze
