#include "base/json_writer.h"
#include "report/history_report.h"

namespace fathom::report {
namespace {

using base::JsonWriter;
using compare::LevelChange;
using compare::OperationHistory;

void write_operation(JsonWriter& json, const compare::History& history,
                     const OperationHistory& operation) {
  json.begin_object().key("operation").value(operation.name);
  json.key("kind").value(trace::name_of(operation.kind));
  json.key("self_ms").value(operation.self_ns / 1e6);
  json.key("time_ms").begin_array();
  for (const std::optional<double>& ns : operation.centre_ns) {
    json.value(ns ? std::optional(*ns / 1e6) : std::nullopt);
  }
  json.end_array().key("change_points").begin_array();
  for (const LevelChange& change : operation.changes) {
    json.begin_object().key("run").value(change.run);
    json.key("file").value(history.runs[change.run]);
    json.key("before_ms").value(change.before_ns / 1e6);
    json.key("after_ms").value(change.after_ns / 1e6);
    json.key("change_percent").value(change.change_pct).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const compare::History& history) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("runs").begin_array();
  for (const std::string& run : history.runs) json.value(run);
  json.end_array();
  json.key("threshold_percent").value(history.threshold_pct);
  json.key("is_long_enough").value(history.is_long_enough());
  json.key("operations_left_out").value(history.left_out);
  json.key("operations").begin_array();
  for (const OperationHistory& operation : history.operations) {
    write_operation(json, history, operation);
  }
  json.end_array().end_object();
  out += '\n';
  return out;
}

}  // namespace fathom::report
