#include "analyze/run/slices.h"

#include <utility>

#include "analyze/operations/host_spans.h"
#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using base::Interval;

constexpr std::size_t kMostSteps = 60;
constexpr std::int64_t kSlices = 48;

std::vector<Interval> equal_slices(Interval run) {
  std::vector<Interval> slices;
  if (run.length() < kSlices) return slices;
  // In double: a run of hours times the number of slices is more than 64 bits of nanoseconds hold.
  const auto at = [&](std::int64_t slice) {
    return static_cast<std::int64_t>(static_cast<double>(run.length()) *
                                     static_cast<double>(slice) / kSlices);
  };
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    slices.push_back({run.begin + at(slice), run.begin + at(slice + 1)});
  }
  return slices;
}

// When anything is known: GPU work, or what a thread did.
base::IntervalSet recorded(const trace::Trace& trace) {
  const HostSpans host(trace);
  const trace::Spans& spans = trace.spans;
  std::vector<Interval> times;
  for (trace::SpanId id = 0; id < spans.size(); ++id) {
    const bool is_range =
        spans.kind[id] == trace::SpanKind::annotation || trace.name(id).starts_with(kStepName);
    const bool is_work = trace::is_gpu_work(spans.kind[id]);
    if (is_work || (host.contains(id) && !is_range))
      times.push_back({spans.start_ns[id], spans.end_ns(id)});
  }
  return base::normalize(std::move(times));
}

}  // namespace

TimeSlices time_slices(const trace::Trace& trace, const base::TimeSplit& machine,
                       const GpuWork& work, const std::vector<trace::SpanId>& steps, Interval run) {
  TimeSlices slices;
  slices.are_steps = steps.size() > 1 && steps.size() <= kMostSteps;
  if (slices.are_steps) {
    for (const trace::SpanId id : steps) {
      slices.windows.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
    }
  } else {
    slices.windows = equal_slices(run);
  }
  slices.gpu = gpu_time(work, slices.windows);
  const base::IntervalSet known = recorded(trace);
  for (const Interval& window : slices.windows) {
    slices.parts.push_back(machine.within(window));
    slices.unrecorded_ns.push_back(window.length() - base::length_within(known, window));
  }
  return slices;
}

}  // namespace fathom::analyze
