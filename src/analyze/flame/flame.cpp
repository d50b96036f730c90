#include "analyze/flame/flame.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/hta/gpu_work.h"
#include "analyze/operations/host_spans.h"
#include "analyze/operations/steps.h"
#include "trace/track_label.h"

namespace fathom::analyze {
namespace {

using base::StringId;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr std::string_view kNoLaunch = "GPU work without a launch";
constexpr std::string_view kSmallKernels = "small kernels";
constexpr std::int64_t kSmallKernelNs = 10'000;
constexpr FlameNodeId kUnset = UINT32_MAX;

struct PathKey {
  FlameNodeId parent = 0;
  StringId name = 0;
  SpanKind kind = SpanKind::other;

  bool operator==(const PathKey&) const = default;
};

struct PathHash {
  std::size_t operator()(const PathKey& key) const {
    std::uint64_t bits = std::uint64_t{key.parent} << 32 | key.name;
    bits = (bits ^ static_cast<std::uint64_t>(key.kind) << 56) * 0x9E3779B97F4A7C15U;
    return bits ^ bits >> 32;
  }
};

// Finds or makes the node of a path.
class Paths {
 public:
  Paths(const trace::Trace& trace, FlameTree& tree)
      : trace_(trace), tree_(tree), renamed_(trace.names.size(), kUnset) {}

  FlameNodeId root(std::string_view label, SpanKind kind, std::int64_t time_ns) {
    const FlameNodeId id = child(0, tree_.names.intern(label), kind, time_ns);
    tree_.nodes[id].is_root = true;
    return id;
  }

  FlameNodeId call(FlameNodeId parent, SpanId span) {
    const FlameNodeId id = child(parent, name_of(trace_.spans.name[span]), trace_.spans.kind[span],
                                 trace_.spans.start_ns[span]);
    ++tree_.nodes[id].calls;
    ++tree_.nodes[id].count_self;
    return id;
  }

 private:
  StringId name_of(trace::NameId name) {
    StringId& known = renamed_[name];
    if (known == kUnset) {
      const std::string_view text = trace_.names.view(name);
      known = tree_.names.intern(text.starts_with(kStepName) ? kStepName : text);
    }
    return known;
  }

  FlameNodeId child(FlameNodeId parent, StringId name, SpanKind kind, std::int64_t time_ns) {
    const auto next = static_cast<FlameNodeId>(tree_.nodes.size());
    const auto [at, is_new] = ids_.try_emplace({parent, name, kind}, next);
    if (is_new) {
      FlameNode node;
      node.name = name;
      node.kind = kind;
      node.parent = parent;
      node.first_ns = time_ns;
      tree_.nodes.push_back(node);
    }
    FlameNode& node = tree_.nodes[at->second];
    node.first_ns = std::min(node.first_ns, time_ns);
    return at->second;
  }

  const trace::Trace& trace_;
  FlameTree& tree_;
  std::vector<StringId> renamed_;  // by name of the trace
  std::unordered_map<PathKey, FlameNodeId, PathHash> ids_;
};

// The innermost host span around each span, itself not counted.
std::vector<SpanId> host_parents(const trace::Spans& spans, const HostSpans& host) {
  std::vector<SpanId> up(spans.size(), kNoSpan);
  for (SpanId id = 0; id < spans.size(); ++id) {
    const SpanId parent = spans.parent[id];
    if (parent == kNoSpan) continue;
    up[id] = host.contains(parent) ? parent : up[parent];
  }
  return up;
}

class Builder {
 public:
  explicit Builder(const trace::Trace& trace)
      : trace_(trace), host_(trace), up_(host_parents(trace.spans, host_)), paths_(trace, tree_) {
    tree_.nodes.emplace_back();
    tree_.nodes[0].is_root = true;
    tree_.nodes[0].name = tree_.names.intern("all");
  }

  FlameTree build() {
    for (const trace::Track& track : trace_.tracks) add_thread(track);
    add_gpu_work();
    return std::move(tree_);
  }

 private:
  // Spans come by start, the longer first: what lies before the end of an earlier sibling is that
  // sibling's, and a running end a parent is enough to know it.
  void add_thread(const trace::Track& track) {
    const trace::Spans& spans = trace_.spans;
    FlameNodeId root = kUnset;
    std::int64_t root_covered_to = INT64_MIN;
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      if (!host_.contains(id)) continue;
      if (root == kUnset) root = paths_.root(label_of(track), SpanKind::other, spans.start_ns[id]);
      const SpanId parent = up_[id];
      node_[id] = paths_.call(parent == kNoSpan ? root : node_[parent], id);
      std::int64_t& covered = parent == kNoSpan ? root_covered_to : covered_to_[parent];
      const std::int64_t from = std::max(spans.start_ns[id], covered);
      const std::int64_t width = std::max<std::int64_t>(spans.end_ns(id) - from, 0);
      covered = std::max(covered, spans.end_ns(id));
      covered_to_[id] = from;
      tree_.nodes[node_[id]].cpu_self_ns += width;
      if (parent != kNoSpan) tree_.nodes[node_[parent]].cpu_self_ns -= width;
    }
  }

  void add_gpu_work() {
    for (const WorkRow& work : gpu_work(trace_).rows) {
      const bool is_launched = work.launch != kNoSpan && host_.contains(work.launch);
      const FlameNodeId parent = is_launched
                                     ? node_[work.launch]
                                     : paths_.root(kNoLaunch, SpanKind::kernel, work.start_ns);
      const FlameNodeId node = paths_.call(parent, work.span);
      tree_.nodes[node].gpu_self_ns += work.duration_ns();
    }
  }

  const trace::Trace& trace_;
  HostSpans host_;
  std::vector<SpanId> up_;
  FlameTree tree_;
  Paths paths_;
  std::vector<FlameNodeId> node_ = std::vector<FlameNodeId>(trace_.spans.size(), kUnset);
  std::vector<std::int64_t> covered_to_ = std::vector<std::int64_t>(trace_.spans.size());
};

void add_self(FlameNode& into, const FlameNode& from) {
  into.cpu_self_ns += from.cpu_self_ns;
  into.gpu_self_ns += from.gpu_self_ns;
  into.count_self += from.count_self;
}

// Totals from self times; children stand after their parents.
void sum_up(FlameTree& tree) {
  for (FlameNode& node : tree.nodes) {
    node.cpu_ns = node.cpu_self_ns;
    node.gpu_ns = node.gpu_self_ns;
    node.count = node.count_self;
  }
  for (std::size_t i = tree.nodes.size(); i-- > 1;) {
    const FlameNode& node = tree.nodes[i];
    FlameNode& parent = tree.nodes[node.parent];
    parent.cpu_ns += node.cpu_ns;
    parent.gpu_ns += node.gpu_ns;
    parent.count += node.count;
  }
}

// Leaves only the nodes that have a place of their own: `into[i]` is the node that takes over i,
// i itself where it stays.
void fold(FlameTree& tree, const std::vector<FlameNodeId>& into) {
  std::vector<FlameNodeId> place(tree.nodes.size());
  std::vector<FlameNode> kept;
  for (FlameNodeId id = 0; id < tree.nodes.size(); ++id) {
    FlameNode node = tree.nodes[id];
    if (into[id] != id) {
      place[id] = place[into[id]];
      add_self(kept[place[id]], node);
      continue;
    }
    node.parent = place[node.parent];
    place[id] = static_cast<FlameNodeId>(kept.size());
    kept.push_back(node);
  }
  tree.nodes = std::move(kept);
}

void leave_out_small(FlameTree& tree, const FlameOptions& options) {
  std::vector<FlameNodeId> into(tree.nodes.size());
  std::vector<std::uint32_t> depth(tree.nodes.size());
  for (FlameNodeId id = 1; id < tree.nodes.size(); ++id) {
    const FlameNode& node = tree.nodes[id];
    depth[id] = node.is_root ? 0 : depth[node.parent] + 1;
    const bool is_small =
        node.cpu_ns < options.min_duration_ns && node.gpu_ns < options.min_duration_ns;
    const bool goes = !node.is_root && (is_small || depth[id] > options.max_depth);
    into[id] = goes ? into[node.parent] : id;
  }
  fold(tree, into);
}

bool is_small_kernel(const FlameNode& node) {
  return node.kind == SpanKind::kernel && !node.is_root && node.calls > 0 &&
         node.gpu_self_ns < kSmallKernelNs * static_cast<std::int64_t>(node.calls);
}

void group_small_kernels(FlameTree& tree) {
  std::vector<std::uint32_t> small(tree.nodes.size());
  for (const FlameNode& node : tree.nodes) small[node.parent] += is_small_kernel(node) ? 1U : 0U;
  std::vector<FlameNodeId> group(tree.nodes.size(), kUnset);
  std::vector<FlameNodeId> into(tree.nodes.size());
  for (FlameNodeId id = 0; id < tree.nodes.size(); ++id) {
    FlameNode& node = tree.nodes[id];
    into[id] = id;
    if (id == 0 || small[node.parent] < 2 || !is_small_kernel(node)) continue;
    FlameNodeId& first = group[node.parent];
    if (first == kUnset) {
      first = id;
      node.name = tree.names.intern(kSmallKernels);
      continue;
    }
    into[id] = first;
    tree.nodes[first].calls += node.calls;
    tree.nodes[first].first_ns = std::min(tree.nodes[first].first_ns, node.first_ns);
  }
  fold(tree, into);
}

}  // namespace

FlameTree flame_tree(const trace::Trace& trace, const FlameOptions& options) {
  FlameTree tree = Builder(trace).build();
  if (options.group_small_kernels) group_small_kernels(tree);
  sum_up(tree);
  leave_out_small(tree, options);
  sum_up(tree);
  return tree;
}

std::vector<std::vector<FlameNodeId>> children_by_weight(const FlameTree& tree,
                                                         FlameWeight weight) {
  std::vector<std::vector<FlameNodeId>> children(tree.nodes.size());
  for (FlameNodeId id = 1; id < tree.nodes.size(); ++id) {
    children[tree.nodes[id].parent].push_back(id);
  }
  for (std::vector<FlameNodeId>& siblings : children) {
    std::sort(siblings.begin(), siblings.end(), [&](FlameNodeId a, FlameNodeId b) {
      const std::int64_t of_a = tree.nodes[a].total(weight);
      const std::int64_t of_b = tree.nodes[b].total(weight);
      return of_a != of_b ? of_a > of_b : tree.name(a) < tree.name(b);
    });
  }
  return children;
}

}  // namespace fathom::analyze
