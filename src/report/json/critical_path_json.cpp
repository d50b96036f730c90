#include <algorithm>
#include <string>

#include "report/critical_path_report.h"

namespace fathom::report {
namespace {

void write_bounds(base::JsonWriter& json, const analyze::BoundTimes& times) {
  json.key("bound_by").begin_object();
  for (std::size_t i = 0; i < times.size(); ++i) {
    json.key(std::string(analyze::kBoundNames[i]) + "_ns").value(times[i]);
  }
  json.end_object();
}

}  // namespace

void write_json(base::JsonWriter& json, const analyze::CriticalPath& path, std::size_t top) {
  json.begin_object().key("total_ns").value(path.total_ns());
  write_bounds(json, path.bound_by);
  json.key("operations").begin_array();
  for (std::size_t i = 0; i < std::min(top, path.operations.size()); ++i) {
    const analyze::PathOperation& operation = path.operations[i];
    json.begin_object().key("name").value(operation.name);
    json.key("bound").value(analyze::name_of(operation.bound));
    json.key("path_ns").value(operation.path_ns).key("segments").value(operation.segments);
    json.end_object();
  }
  json.end_array().key("steps").begin_array();
  for (const analyze::PathStep& step : path.steps) {
    json.begin_object().key("name").value(step.name).key("start_ns").value(step.start_ns);
    json.key("total_ns").value(step.end_ns - step.start_ns);
    write_bounds(json, step.bound_by);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace fathom::report
