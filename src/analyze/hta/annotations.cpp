#include "analyze/hta/annotations.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyze/hta/name_places.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::NameId;
using trace::SpanId;
using trace::SpanKind;

// The host's annotations as a forest, and what GPU work lies below each. All of it is linear in the
// spans, however deep annotations are nested: work is counted where it was launched and summed up
// towards the roots.
class AnnotationForest {
 public:
  explicit AnnotationForest(const trace::Trace& trace)
      : spans_(trace.spans), around_(spans_.size(), kNoSpan), sums_(spans_.size()) {
    for (SpanId id = 0; id < spans_.size(); ++id) {  // parents stand before their children
      const SpanId parent = spans_.parent[id];
      const bool is_one = spans_.kind[id] == SpanKind::annotation;
      around_[id] = is_one ? id : parent == kNoSpan ? kNoSpan : around_[parent];
    }
    find_repeats(trace.names.size());
  }

  void begin_device() { ++device_; }

  void add(const WorkRow& row) {
    const SpanId id = row.launch == kNoSpan ? kNoSpan : around_[row.launch];
    if (id == kNoSpan) return;
    for (SpanId up = id; up != kNoSpan && sums_[up].device != device_; up = outer(up)) {
      sums_[up] = {device_, 0, 0};
      touched_.push_back(up);
    }
    ++sums_[id].kernels;
    sums_[id].gpu_ns += row.duration_ns();
  }

  // Visits what the work of this device lies in: name, pieces of work, their time. A name may come
  // several times; what lies in two of one name comes once.
  template <typename Visit>
  void finish_device(const Visit& visit) {
    std::sort(touched_.begin(), touched_.end(), std::greater<>());  // children first
    for (const SpanId id : touched_) {
      const Sum& sum = sums_[id];
      if (!is_repeat_[id]) visit(spans_.name[id], sum.kernels, sum.gpu_ns);
      const SpanId up = outer(id);
      if (up == kNoSpan) continue;
      sums_[up].kernels += sum.kernels;
      sums_[up].gpu_ns += sum.gpu_ns;
    }
    touched_.clear();
  }

 private:
  struct Sum {
    std::uint32_t device = 0;  // that it is of
    std::uint64_t kernels = 0;
    std::int64_t gpu_ns = 0;
  };

  SpanId outer(SpanId id) const {
    return spans_.parent[id] == kNoSpan ? kNoSpan : around_[spans_.parent[id]];
  }

  // Which of them lie inside another of the same name: a walk that knows which names are open.
  void find_repeats(std::size_t names) {
    is_repeat_.resize(spans_.size());
    std::vector<SpanId> first_child(spans_.size() + 1, kNoSpan);  // the last is that of the roots
    std::vector<SpanId> sibling(spans_.size(), kNoSpan);
    for (SpanId id = 0; id < spans_.size(); ++id) {
      if (around_[id] != id) continue;
      const SpanId up = outer(id);
      SpanId& first = first_child[up == kNoSpan ? spans_.size() : up];
      sibling[id] = std::exchange(first, id);
    }
    std::vector<std::uint32_t> open(names);
    for (SpanId id = first_child.back(); id != kNoSpan;) {
      is_repeat_[id] = open[spans_.name[id]]++ > 0;
      SpanId next = first_child[id];
      while (next == kNoSpan && id != kNoSpan) {  // leave it, and those that end with it
        --open[spans_.name[id]];
        next = sibling[id];
        if (next == kNoSpan) id = outer(id);
      }
      id = next;
    }
  }

  const trace::Spans& spans_;
  std::vector<SpanId> around_;  // the innermost annotation around each span, or itself
  std::vector<bool> is_repeat_;
  std::vector<Sum> sums_;
  std::vector<SpanId> touched_;  // those with work of the present device inside
  std::uint32_t device_ = 0;
};

struct HostTotal {
  std::uint64_t calls = 0;
  std::int64_t host_ns = 0;
  bool is_listed = false;
};

// By name.
std::vector<HostTotal> host_totals(const trace::Trace& trace, std::int64_t window_end) {
  const trace::Spans& spans = trace.spans;
  std::vector<HostTotal> totals(trace.names.size());
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.kind[id] != SpanKind::annotation || spans.start_ns[id] >= window_end) continue;
    ++totals[spans.name[id]].calls;
    totals[spans.name[id]].host_ns += spans.duration_ns[id];
  }
  return totals;
}

class AnnotationLists {
 public:
  AnnotationLists(const trace::Trace& trace, const GpuWork& work)
      : trace_(trace),
        work_(work),
        window_end_(work.launched_before_ns.value_or(INT64_MAX)),
        totals_(host_totals(trace, window_end_)),
        forest_(trace),
        places_(trace.names.size()) {}

  std::vector<std::vector<Annotation>> all() {
    std::vector<std::vector<Annotation>> lists;
    for (const DeviceWork& device : work_.devices) lists.push_back(of(device));
    if (!lists.empty()) add_rest(lists.front());
    for (std::vector<Annotation>& list : lists) {
      std::sort(list.begin(), list.end(), [](const Annotation& a, const Annotation& b) {
        return std::tie(b.gpu_ns, b.host_ns, a.name) < std::tie(a.gpu_ns, a.host_ns, b.name);
      });
    }
    return lists;
  }

 private:
  std::vector<Annotation> of(const DeviceWork& device) {
    std::vector<Annotation> list;
    places_.begin_list();
    forest_.begin_device();
    for (const std::uint32_t at : device.by_start) forest_.add(work_.rows[at]);
    forest_.finish_device([&](NameId name, std::uint64_t kernels, std::int64_t gpu_ns) {
      Annotation& annotation = entry(list, name);
      annotation.kernels += kernels;
      annotation.gpu_ns += gpu_ns;
    });
    for (const GpuStream& stream : work_.of(device)) add_ranges(trace_.tracks[stream.track], list);
    return list;
  }

  void add_ranges(const trace::Track& track, std::vector<Annotation>& list) {
    const trace::Spans& spans = trace_.spans;
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      if (spans.kind[id] != SpanKind::gpu_annotation || spans.start_ns[id] >= window_end_) continue;
      Annotation& annotation = entry(list, spans.name[id]);
      ++annotation.gpu_ranges;
      annotation.gpu_range_ns += spans.duration_ns[id];
    }
  }

  void add_rest(std::vector<Annotation>& list) {
    for (NameId name = 0; name < totals_.size(); ++name) {
      if (totals_[name].calls > 0 && !totals_[name].is_listed) list.push_back(made(name));
    }
  }

  Annotation& entry(std::vector<Annotation>& list, NameId name) {
    std::uint32_t& place = places_.of(name);
    if (place == NamePlaces::kUnseen) {
      place = static_cast<std::uint32_t>(list.size());
      list.push_back(made(name));
    }
    return list[place];
  }

  Annotation made(NameId name) {
    totals_[name].is_listed = true;
    Annotation annotation;
    annotation.name = trace_.names.view(name);
    annotation.calls = totals_[name].calls;
    annotation.host_ns = totals_[name].host_ns;
    return annotation;
  }

  const trace::Trace& trace_;
  const GpuWork& work_;
  std::int64_t window_end_;
  std::vector<HostTotal> totals_;
  AnnotationForest forest_;
  NamePlaces places_;
};

}  // namespace

std::vector<std::vector<Annotation>> annotations(const trace::Trace& trace, const GpuWork& work) {
  return AnnotationLists(trace, work).all();
}

}  // namespace fathom::analyze
