#include "compare/flame_change.h"

#include <algorithm>

namespace fathom::compare {
namespace {

constexpr double kLeastShown = 1.0 / 2000;

void add_to(FlameTimes& sum, const FlameTimes& part) {
  sum.cpu_ns += part.cpu_ns;
  sum.gpu_ns += part.gpu_ns;
}

void divide(FlameTimes& times, double parts) {
  if (parts <= 0) return;
  times.cpu_ns /= parts;
  times.gpu_ns /= parts;
}

bool is_below(const FlameTimes& times, const FlameTimes& whole) {
  return times.cpu_ns <= kLeastShown * whole.cpu_ns && times.gpu_ns <= kLeastShown * whole.gpu_ns;
}

}  // namespace

FlameChangeBuilder::FlameChangeBuilder() {
  all_.nodes.push_back({name_of("all"), 0, trace::SpanKind::other, {}, {}});
}

std::uint32_t FlameChangeBuilder::name_of(const std::string& name) {
  const auto [at, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(all_.names.size()));
  if (is_new) all_.names.push_back(name);
  return at->second;
}

std::uint32_t FlameChangeBuilder::child(std::uint32_t parent, std::string_view name,
                                        trace::SpanKind kind) {
  const std::uint32_t id = name_of(comparable_name(name, kind));
  std::vector<std::uint32_t>& found = children_[std::uint64_t{parent} << 32 | id];
  for (const std::uint32_t node : found) {
    if (all_.nodes[node].kind == kind) return node;
  }
  const auto node = static_cast<std::uint32_t>(all_.nodes.size());
  all_.nodes.push_back({id, parent, kind, {}, {}});
  found.push_back(node);
  return node;
}

void FlameChangeBuilder::add(const analyze::FlameTree& tree, Side side) {
  std::vector<std::uint32_t> ours(tree.nodes.size(), 0);
  for (analyze::FlameNodeId id = 1; id < tree.nodes.size(); ++id) {
    const analyze::FlameNode& node = tree.nodes[id];
    const std::uint32_t parent = ours[node.parent];
    ours[id] = node.is_root ? parent : child(parent, tree.name(id), node.kind);
    FlameChangeNode& to = all_.nodes[ours[id]];
    add_to(side == Side::base ? to.base : to.current,
           {static_cast<double>(node.cpu_self_ns), static_cast<double>(node.gpu_self_ns)});
  }
}

void FlameChangeBuilder::fold_small() {
  std::vector<FlameChangeNode>& nodes = all_.nodes;
  std::vector<FlameChangeNode> totals = nodes;
  for (std::size_t id = nodes.size(); id-- > 1;) {
    add_to(totals[nodes[id].parent].base, totals[id].base);
    add_to(totals[nodes[id].parent].current, totals[id].current);
  }
  std::vector<std::uint32_t> place(nodes.size(), 0);
  std::vector<FlameChangeNode> kept = {nodes.front()};
  for (std::size_t id = 1; id < nodes.size(); ++id) {
    const std::uint32_t parent = place[nodes[id].parent];
    if (is_below(totals[id].base, totals[0].base) &&
        is_below(totals[id].current, totals[0].current)) {
      add_to(kept[parent].base, nodes[id].base);
      add_to(kept[parent].current, nodes[id].current);
      place[id] = parent;
      continue;
    }
    place[id] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(nodes[id]);
    kept.back().parent = parent;
  }
  nodes = std::move(kept);
}

FlameChange FlameChangeBuilder::finish(const Comparison& comparison) && {
  for (FlameChangeNode& node : all_.nodes) {
    divide(node.base, comparison.base_parts);
    divide(node.current, comparison.current_parts);
  }
  fold_small();
  return std::move(all_);
}

}  // namespace fathom::compare
