#include "analyze/run/split.h"

#include <algorithm>
#include <utility>

namespace fathom::analyze {
namespace {

using base::Interval;
using base::IntervalSet;
using trace::SpanId;
using trace::SpanKind;

struct Work {
  std::vector<Interval> gpu;
  std::vector<Interval> transfer;
  std::vector<Interval> overhead;

  // Null for spans that count as CPU time.
  std::vector<Interval>* of(SpanKind kind, trace::TrackKind track) {
    switch (kind) {
      case SpanKind::kernel:
      case SpanKind::fill:
        return &gpu;
      case SpanKind::copy:
        return &transfer;
      case SpanKind::runtime_call:
      case SpanKind::sync:
        return track == trace::TrackKind::gpu_stream ? nullptr : &overhead;
      default:
        return nullptr;
    }
  }
};

Work collect(const trace::Trace& trace) {
  Work work;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const trace::TrackKind track = trace.tracks[trace.spans.track[id]].kind;
    std::vector<Interval>* const list = work.of(trace.spans.kind[id], track);
    if (list != nullptr) list->push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
  }
  return work;
}

// A set that answers how much of any window it covers, in logarithmic time.
class Coverage {
 public:
  explicit Coverage(IntervalSet set) : set_(std::move(set)), before_(set_.size() + 1, 0) {
    for (std::size_t i = 0; i < set_.size(); ++i) before_[i + 1] = before_[i] + set_[i].length();
  }

  std::int64_t within(const Interval& window) const {
    return up_to(window.end) - up_to(window.begin);
  }

 private:
  std::int64_t up_to(std::int64_t time) const {
    const auto next = std::lower_bound(
        set_.begin(), set_.end(), time,
        [](const Interval& interval, std::int64_t t) { return interval.begin < t; });
    const auto count = static_cast<std::size_t>(next - set_.begin());
    if (count == 0) return 0;
    return before_[count] - std::max<std::int64_t>(0, set_[count - 1].end - time);
  }

  IntervalSet set_;
  std::vector<std::int64_t> before_;  // length of all intervals before the one at this index
};

}  // namespace

std::vector<Split> split(const trace::Trace& trace, std::span<const Interval> windows) {
  Work work = collect(trace);
  const IntervalSet gpu = base::normalize(std::move(work.gpu));
  const IntervalSet copies = base::normalize(std::move(work.transfer));
  const IntervalSet calls = base::normalize(std::move(work.overhead));
  const Coverage gpu_cover(gpu);
  const Coverage transfer_cover(base::subtract(copies, gpu));
  const Coverage overhead_cover(base::subtract(calls, base::unite(gpu, copies)));
  std::vector<Split> splits;
  splits.reserve(windows.size());
  for (const Interval& window : windows) {
    Split part;
    part.gpu_ns = gpu_cover.within(window);
    part.transfer_ns = transfer_cover.within(window);
    part.overhead_ns = overhead_cover.within(window);
    part.cpu_ns = window.length() - part.gpu_ns - part.transfer_ns - part.overhead_ns;
    splits.push_back(part);
  }
  return splits;
}

}  // namespace fathom::analyze
