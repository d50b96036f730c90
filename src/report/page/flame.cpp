#include "report/page/flame.h"

#include <algorithm>

#include "base/json_writer.h"
#include "report/page/part.h"

namespace fathom::report {
namespace {

using analyze::FlameNode;
using analyze::FlameTree;
using analyze::FlameWeight;

// Spans of no known kind only frame others, where the file knows kinds.
bool knows_kinds(const FlameTree& tree) {
  return std::any_of(tree.nodes.begin(), tree.nodes.end(), [](const FlameNode& node) {
    return !node.is_root && node.kind != trace::SpanKind::other;
  });
}

template <typename Value>
void column(base::JsonWriter& json, const FlameTree& tree, std::string_view name,
            const Value& value) {
  json.key(name).begin_array();
  for (const FlameNode& node : tree.nodes) json.value(value(node));
  json.end_array();
}

}  // namespace

std::string page_flame(const FlameTree& tree, FlameWeight weight) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("weight");
  json.value(weight == FlameWeight::cpu ? "cpu" : weight == FlameWeight::gpu ? "gpu" : "count");
  json.key("names").begin_array();
  for (base::StringId id = 0; id < tree.names.size(); ++id) json.value(tree.names.view(id));
  json.end_array();
  column(json, tree, "parent", [](const FlameNode& node) { return node.parent; });
  column(json, tree, "name", [](const FlameNode& node) { return node.name; });
  column(json, tree, "kind", [](const FlameNode& node) {
    return node.is_root ? std::string_view("") : trace::name_of(node.kind);
  });
  const bool others_are_frames = knows_kinds(tree);
  column(json, tree, "part", [&](const FlameNode& node) {
    if (node.is_root) return std::string_view("idle");
    return page_part(node.kind, tree.names.view(node.name), others_are_frames);
  });
  column(json, tree, "calls", [](const FlameNode& node) { return node.calls; });
  column(json, tree, "first_ns", [&](const FlameNode& node) {
    return tree.nodes.size() > 1 ? node.first_ns - tree.nodes[1].first_ns : 0;
  });
  column(json, tree, "cpu_ns", [](const FlameNode& node) { return node.cpu_self_ns; });
  column(json, tree, "gpu_ns", [](const FlameNode& node) { return node.gpu_self_ns; });
  column(json, tree, "count", [](const FlameNode& node) { return node.count_self; });
  json.end_object();
  return out;
}

}  // namespace fathom::report
