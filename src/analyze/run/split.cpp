#include "analyze/run/split.h"

#include <utility>
#include <vector>

#include "base/interval_set.h"

namespace fathom::analyze {

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

}  // namespace fathom::analyze
