#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "fathom/monitor.h"
#include "monitor/alert_words.h"

// What a monitor knows, as JSON, with the fields that docs/openapi.yaml lists. What is not known is
// left out.
namespace fathom::monitor {

void write_config(base::JsonWriter& json, const MonitorConfig& config);
void write_inference(base::JsonWriter& json, const InferenceFigures& figures);
void write_session(base::JsonWriter& json, const MonitorSession& session);
void write_alert(base::JsonWriter& json, const Alert& alert);
void write_ranges(base::JsonWriter& json,
                  const std::map<std::string, std::map<std::string, MetricRange>>& metrics);
void write_suggestions(base::JsonWriter& json, const std::vector<MonitorSuggestion>& suggestions);
// Times and, per device, the columns of docs/openapi.yaml: the members of an object, or all of it.
void write_history_members(base::JsonWriter& json, const std::vector<Snapshot>& snapshots);
void write_history(base::JsonWriter& json, const std::vector<Snapshot>& snapshots);

// The report of a session as it is exported; docs/openapi.yaml, SessionReport.
std::string to_json(const SessionReport& report);

}  // namespace fathom::monitor
