#include "base/json_writer.h"
#include "fathom/figures.h"
#include "report/history_report.h"
#include "report/json/document.h"

namespace fathom::report {
namespace {

using base::JsonWriter;
using compare::LevelChange;
using compare::OperationHistory;

void write_operation(JsonWriter& json, const compare::History& history,
                     const OperationHistory& operation) {
  json.begin_object().key("operation").value(operation.name);
  json.key("kind").value(trace::name_of(operation.kind));
  json.key("self_ms").value(ms_of(operation.self_ns));
  json.key("time_ms").begin_array();
  for (const std::optional<double>& ns : operation.centre_ns) {
    json.value(ms_of(ns));
  }
  json.end_array().key("change_points").begin_array();
  for (const LevelChange& change : operation.changes) {
    json.begin_object().key("run").value(change.run);
    json.key("file").value(history.runs[change.run]);
    json.key("before_ms").value(ms_of(change.before_ns));
    json.key("after_ms").value(ms_of(change.after_ns));
    json.key("change_percent").value(change.change_pct).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const compare::History& history) {
  std::string out;
  JsonWriter json(out);
  begin_document(json, "history").key("runs").begin_array();
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
