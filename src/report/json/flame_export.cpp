#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/json_writer.h"
#include "report/flame_report.h"
#include "report/json/document.h"

namespace fathom::report {
namespace {

using Children = std::vector<std::vector<FlameNodeId>>;

const char* name_of(FlameWeight weight) {
  return weight == FlameWeight::cpu ? "cpu" : weight == FlameWeight::gpu ? "gpu" : "count";
}

const char* unit_of(FlameWeight weight) {
  return weight == FlameWeight::count ? "none" : "nanoseconds";
}

// Depth is bounded by the option that made the tree, 50 unless asked for more.
void write_node(base::JsonWriter& json, const FlameTree& tree, const Children& children,
                FlameNodeId id, FlameWeight weight) {
  const FlameNode& node = tree.nodes[id];
  json.begin_object().key("name").value(tree.name(id));
  json.key("kind").value(node.is_root ? "root" : trace::name_of(node.kind));
  json.key("calls").value(node.calls).key("value").value(node.total(weight));
  json.key("self").value(node.self(weight));
  json.key("cpu_ns").value(node.cpu_ns).key("gpu_ns").value(node.gpu_ns);
  json.key("children").begin_array();
  for (const FlameNodeId child : children[id]) write_node(json, tree, children, child, weight);
  json.end_array().end_object();
}

// Visits each path that has something of its own, heaviest first.
template <typename Visit>
void visit_paths(const FlameTree& tree, const Children& children, FlameWeight weight,
                 FlameNodeId id, std::vector<FlameNodeId>& path, const Visit& visit) {
  if (id != 0) path.push_back(id);
  if (tree.nodes[id].self(weight) > 0 && !path.empty()) visit(path, tree.nodes[id].self(weight));
  for (const FlameNodeId child : children[id]) {
    visit_paths(tree, children, weight, child, path, visit);
  }
  if (id != 0) path.pop_back();
}

// ";" parts frames and a line's end parts paths, so neither may stand in a name.
std::string frame_name(std::string_view name) {
  if (name.empty()) return "(no name)";
  std::string text(name);
  for (char& c : text) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

std::string to_json(const FlameTree& tree, FlameWeight weight) {
  std::string out;
  base::JsonWriter json(out);
  begin_document(json, "flame")
      .key("weight")
      .value(name_of(weight))
      .key("unit")
      .value(unit_of(weight));
  json.key("root");
  write_node(json, tree, children_by_weight(tree, weight), 0, weight);
  json.end_object();
  return out + "\n";
}

std::string to_folded(const FlameTree& tree, FlameWeight weight) {
  std::string out;
  std::vector<FlameNodeId> path;
  visit_paths(tree, children_by_weight(tree, weight), weight, 0, path,
              [&](const std::vector<FlameNodeId>& frames, std::int64_t value) {
                for (std::size_t i = 0; i < frames.size(); ++i) {
                  if (i > 0) out += ';';
                  out += frame_name(tree.name(frames[i]));
                }
                fmt::format_to(std::back_inserter(out), " {}\n", value);
              });
  return out;
}

std::string to_speedscope(const FlameTree& tree, FlameWeight weight, const std::string& title) {
  std::string samples;
  std::string weights;
  base::JsonWriter sample_json(samples);
  base::JsonWriter weight_json(weights);
  sample_json.begin_array();
  weight_json.begin_array();
  std::int64_t end = 0;
  std::vector<FlameNodeId> path;
  visit_paths(tree, children_by_weight(tree, weight), weight, 0, path,
              [&](const std::vector<FlameNodeId>& frames, std::int64_t value) {
                sample_json.begin_array();
                for (const FlameNodeId id : frames) sample_json.value(tree.nodes[id].name);
                sample_json.end_array();
                weight_json.value(value);
                end += value;
              });
  sample_json.end_array();
  weight_json.end_array();

  std::string out;
  base::JsonWriter json(out);
  json.begin_object();
  json.key("$schema").value("https://www.speedscope.app/file-format-schema.json");
  json.key("exporter").value("fathom").key("name").value(title).key("activeProfileIndex").value(0);
  json.key("shared").begin_object().key("frames").begin_array();
  for (base::StringId id = 0; id < tree.names.size(); ++id) {
    const std::string_view name = tree.names.view(id);
    json.begin_object().key("name").value(name.empty() ? "(no name)" : name).end_object();
  }
  json.end_array().end_object().key("profiles").begin_array().begin_object();
  json.key("type").value("sampled").key("name").value(title).key("unit").value(unit_of(weight));
  json.key("startValue").value(0).key("endValue").value(end);
  json.key("samples").raw(samples).key("weights").raw(weights);
  json.end_object().end_array().end_object();
  return out + "\n";
}

}  // namespace fathom::report
