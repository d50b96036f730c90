#include "analyze/hta/launches.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;

struct Launch {
  SpanId call = trace::kNoSpan;
  std::int64_t first_start_ns = 0;
  std::int64_t gpu_ns = 0;
};

// One per call. The work of a call is mostly together; what does not is joined after sorting.
std::vector<Launch> launches_of(const GpuWork& work, const DeviceWork& device) {
  std::vector<Launch> found;
  const auto add = [&](const Launch& launch) {
    if (found.empty() || found.back().call != launch.call) return found.push_back(launch);
    found.back().first_start_ns = std::min(found.back().first_start_ns, launch.first_start_ns);
    found.back().gpu_ns += launch.gpu_ns;
  };
  for (const GpuStream& stream : work.of(device)) {
    for (const WorkRow& row : work.of(stream)) {
      if (row.launch != trace::kNoSpan) add({row.launch, row.start_ns, row.duration_ns()});
    }
  }
  base::sort_runs(std::span(found),
                  [](const Launch& a, const Launch& b) { return a.call < b.call; });
  std::vector<Launch> sorted = std::move(found);
  found = {};
  found.reserve(sorted.size());
  for (const Launch& launch : sorted) add(launch);
  return found;
}

void add(LaunchStats& stats, std::int64_t cpu_ns, std::int64_t gpu_ns, std::int64_t delay_ns) {
  stats.cpu.add(cpu_ns);
  stats.gpu.add(gpu_ns);
  stats.delay.add(delay_ns);
  if (gpu_ns < cpu_ns) ++stats.short_work;
}

}  // namespace

Launches launches(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                  NamePlaces& places) {
  const trace::Spans& spans = trace.spans;
  places.begin_list();
  Launches found;
  for (const Launch& launch : launches_of(work, device)) {
    std::uint32_t& place = places.of(spans.name[launch.call]);
    if (place == NamePlaces::kUnseen) {
      place = static_cast<std::uint32_t>(found.by_call.size());
      found.by_call.push_back({});
      found.by_call.back().name = trace.name(launch.call);
    }
    const std::int64_t cpu = spans.duration_ns[launch.call];
    const std::int64_t delay =
        std::max<std::int64_t>(0, launch.first_start_ns - spans.end_ns(launch.call));
    add(found.by_call[place], cpu, launch.gpu_ns, delay);
  }
  for (const LaunchStats& call : found.by_call) {
    found.all.cpu.merge(call.cpu);
    found.all.gpu.merge(call.gpu);
    found.all.delay.merge(call.delay);
    found.all.short_work += call.short_work;
  }
  std::sort(found.by_call.begin(), found.by_call.end(), [](const auto& a, const auto& b) {
    return a.count() != b.count() ? a.count() > b.count() : a.name < b.name;
  });
  return found;
}

}  // namespace fathom::analyze
