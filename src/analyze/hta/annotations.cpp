#include "analyze/hta/annotations.h"

#include <algorithm>
#include <tuple>

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;

class Grouping {
 public:
  explicit Grouping(const trace::Trace& trace)
      : trace_(trace), places_(trace.names.size(), UINT32_MAX) {}

  Annotation& of(trace::NameId name) {
    std::uint32_t& place = places_[name];
    if (place == UINT32_MAX) {
      place = static_cast<std::uint32_t>(found_.size());
      found_.push_back({});
      found_.back().name = trace_.names.view(name);
    }
    return found_[place];
  }

  std::vector<Annotation> take() { return std::move(found_); }

 private:
  const trace::Trace& trace_;
  std::vector<std::uint32_t> places_;
  std::vector<Annotation> found_;
};

void add_ranges(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                Grouping& grouping) {
  const trace::Spans& spans = trace.spans;
  std::vector<bool> is_ours(trace.tracks.size());
  for (const GpuStream& stream : work.of(device)) is_ours[stream.track] = true;
  const std::int64_t window_end = work.launched_before_ns.value_or(INT64_MAX);
  for (SpanId id = 0; id < spans.size(); ++id) {
    const bool on_host = spans.kind[id] == SpanKind::annotation;
    const bool on_gpu = spans.kind[id] == SpanKind::gpu_annotation && is_ours[spans.track[id]];
    if ((!on_host && !on_gpu) || spans.start_ns[id] >= window_end) continue;
    Annotation& annotation = grouping.of(spans.name[id]);
    ++(on_host ? annotation.calls : annotation.gpu_ranges);
    (on_host ? annotation.host_ns : annotation.gpu_range_ns) += spans.duration_ns[id];
  }
}

// The innermost annotation around each span, or the span itself where it is one. Parents stand
// before their children.
std::vector<SpanId> annotations_around(const trace::Spans& spans) {
  std::vector<SpanId> around(spans.size(), trace::kNoSpan);
  for (SpanId id = 0; id < spans.size(); ++id) {
    const SpanId parent = spans.parent[id];
    if (spans.kind[id] == SpanKind::annotation) {
      around[id] = id;
    } else if (parent != trace::kNoSpan) {
      around[id] = around[parent];
    }
  }
  return around;
}

// Work belongs to every annotation around its launch, once to those of one name.
void add_work(const trace::Trace& trace, const WorkRow& row, const std::vector<SpanId>& around,
              Grouping& grouping, std::vector<trace::NameId>& seen) {
  const trace::Spans& spans = trace.spans;
  seen.clear();
  if (row.launch == trace::kNoSpan) return;
  const auto outer = [&](SpanId id) {
    return spans.parent[id] == trace::kNoSpan ? trace::kNoSpan : around[spans.parent[id]];
  };
  for (SpanId id = around[row.launch]; id != trace::kNoSpan; id = outer(id)) {
    if (std::find(seen.begin(), seen.end(), spans.name[id]) != seen.end()) continue;
    seen.push_back(spans.name[id]);
    Annotation& annotation = grouping.of(spans.name[id]);
    ++annotation.kernels;
    annotation.gpu_ns += row.duration_ns();
  }
}

}  // namespace

std::vector<Annotation> annotations(const trace::Trace& trace, const GpuWork& work,
                                    const DeviceWork& device) {
  Grouping grouping(trace);
  add_ranges(trace, work, device, grouping);
  std::vector<trace::NameId> seen;
  const std::vector<SpanId> around = annotations_around(trace.spans);
  for (const std::uint32_t at : device.by_start) {
    add_work(trace, work.rows[at], around, grouping, seen);
  }
  std::vector<Annotation> found = grouping.take();
  std::sort(found.begin(), found.end(), [](const Annotation& a, const Annotation& b) {
    return std::tie(b.gpu_ns, b.host_ns, a.name) < std::tie(a.gpu_ns, a.host_ns, b.name);
  });
  return found;
}

}  // namespace fathom::analyze
