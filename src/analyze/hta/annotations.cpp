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
// towards the roots. Annotations are numbered in the order of their spans: few spans are one.
class AnnotationForest {
 public:
  explicit AnnotationForest(const trace::Trace& trace) : around_(trace.spans.size(), kNone) {
    const trace::Spans& spans = trace.spans;
    for (SpanId id = 0; id < spans.size(); ++id) {  // parents stand before their children
      const SpanId parent = spans.parent[id];
      if (parent != kNoSpan) around_[id] = around_[parent];
      if (spans.kind[id] != SpanKind::annotation) continue;
      nodes_.push_back({spans.name[id], around_[id]});
      around_[id] = static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    find_repeats(trace.names.size());
  }

  void begin_device() { ++device_; }

  void add(const WorkRow& row) {
    const std::uint32_t at = row.launch == kNoSpan ? kNone : around_[row.launch];
    if (at == kNone) return;
    for (std::uint32_t up = at; up != kNone && nodes_[up].device != device_;
         up = nodes_[up].outer) {
      nodes_[up].device = device_;
      nodes_[up].kernels = 0;
      nodes_[up].gpu_ns = 0;
      touched_.push_back(up);
    }
    ++nodes_[at].kernels;
    nodes_[at].gpu_ns += row.duration_ns();
  }

  // Visits what the work of this device lies in: name, pieces of work, their time. A name may come
  // several times; what lies in two of one name comes once.
  template <typename Visit>
  void finish_device(const Visit& visit) {
    std::sort(touched_.begin(), touched_.end(), std::greater<>());  // children first
    for (const std::uint32_t at : touched_) {
      const Node& node = nodes_[at];
      if (!node.is_repeat) visit(node.name, node.kernels, node.gpu_ns);
      if (node.outer == kNone) continue;
      nodes_[node.outer].kernels += node.kernels;
      nodes_[node.outer].gpu_ns += node.gpu_ns;
    }
    touched_.clear();
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    NameId name = 0;
    std::uint32_t outer = kNone;  // the innermost around it
    std::uint32_t first_child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t device = 0;  // that the figures are of
    bool is_repeat = false;    // it lies inside another of the same name
    std::uint64_t kernels = 0;
    std::int64_t gpu_ns = 0;
  };

  // A walk that knows which names are open.
  void find_repeats(std::size_t names) {
    std::uint32_t first_root = kNone;
    for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
      const std::uint32_t up = nodes_[at].outer;
      std::uint32_t& first = up == kNone ? first_root : nodes_[up].first_child;
      nodes_[at].sibling = std::exchange(first, at);
    }
    std::vector<std::uint32_t> open(names);
    for (std::uint32_t at = first_root; at != kNone;) {
      nodes_[at].is_repeat = open[nodes_[at].name]++ > 0;
      std::uint32_t next = nodes_[at].first_child;
      while (next == kNone && at != kNone) {  // leave it, and those that end with it
        --open[nodes_[at].name];
        next = nodes_[at].sibling;
        if (next == kNone) at = nodes_[at].outer;
      }
      at = next;
    }
  }

  std::vector<std::uint32_t> around_;  // by span: the innermost annotation around it, or itself
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> touched_;  // those with work of the present device inside
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
