#include "analyze/run/split.h"

#include <utility>

#include "base/partition.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;

base::TimeSplit whole_machine(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  std::vector<Interval> kernels;
  std::vector<Interval> copies;
  std::vector<Interval> calls;
  for (SpanId id = 0; id < spans.size(); ++id) {
    const Interval time{spans.start_ns[id], spans.end_ns(id)};
    if (spans.kind[id] == trace::SpanKind::copy) {
      copies.push_back(time);
    } else if (trace::is_gpu_work(spans.kind[id])) {
      kernels.push_back(time);
    } else if (trace::is_gpu_call(spans.kind[id]) &&
               trace.tracks[spans.track[id]].kind == trace::TrackKind::thread) {
      calls.push_back(time);
    }
  }
  return {base::normalize(std::move(kernels)), base::normalize(std::move(copies)),
          base::normalize(std::move(calls))};
}

}  // namespace

std::vector<TimeParts> split(const trace::Trace& trace, std::span<const Interval> windows) {
  const base::TimeSplit machine = whole_machine(trace);
  std::vector<TimeParts> parts;
  parts.reserve(windows.size());
  for (const Interval& window : windows) parts.push_back(machine.within(window));
  return parts;
}

}  // namespace fathom::analyze
