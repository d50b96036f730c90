#include "monitor/monitor_json.h"

#include <array>

#include "monitor/config_fields.h"

namespace fathom::monitor {
namespace {

using base::JsonWriter;

template <typename T>
void member_if_known(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  if (value) json.key(name).value(*value);
}

struct Column {
  std::string_view name;
  std::optional<double> (*get)(const GpuReading& now);
};
constexpr std::array kColumns = {
    Column{"utilization_percent", [](const GpuReading& now) { return now.utilization_percent; }},
    Column{"memory_used_bytes",
           [](const GpuReading& now) {
             return now.memory_used_bytes
                        ? std::optional(static_cast<double>(*now.memory_used_bytes))
                        : std::nullopt;
           }},
    Column{"temperature_celsius", [](const GpuReading& now) { return now.temperature_celsius; }},
    Column{"power_watts", [](const GpuReading& now) { return now.power_watts; }},
};

const GpuDevice* find_device(const Snapshot& snapshot, const std::string& uuid) {
  for (const GpuDevice& device : snapshot.devices) {
    if (device.uuid == uuid) return &device;
  }
  return nullptr;
}

}  // namespace

void write_config(JsonWriter& json, const MonitorConfig& config) {
  json.begin_object();
  for (const ConfigField& field : config_fields()) {
    json.key(field.name);
    std::visit(
        [&](auto member) {
          if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(config.*member)>>) {
            json.value(name_of(config.*member));
          } else {
            json.value(config.*member);
          }
        },
        field.member);
  }
  json.end_object();
}

void write_inference(JsonWriter& json, const InferenceFigures& figures) {
  json.begin_object();
  json.key("count").value(figures.count).key("sum_ms").value(figures.sum_ms);
  member_if_known(json, "mean_ms", figures.mean_ms);
  member_if_known(json, "min_ms", figures.min_ms);
  member_if_known(json, "max_ms", figures.max_ms);
  member_if_known(json, "p50_ms", figures.p50_ms);
  member_if_known(json, "p95_ms", figures.p95_ms);
  member_if_known(json, "p99_ms", figures.p99_ms);
  json.end_object();
}

void write_session(JsonWriter& json, const MonitorSession& session) {
  json.begin_object();
  json.key("id").value(session.id).key("name").value(session.name);
  json.key("description").value(session.description);
  json.key("started_ns").value(session.started_ns);
  member_if_known(json, "stopped_ns", session.stopped_ns);
  json.key("was_interrupted").value(session.was_interrupted);
  json.key("snapshots").value(session.snapshots).key("alerts").value(session.alerts);
  json.key("inference");
  write_inference(json, session.inference);
  json.end_object();
}

void write_alert(JsonWriter& json, const Alert& alert) {
  json.begin_object();
  json.key("id").value(alert.id).key("kind").value(name_of(alert.kind));
  json.key("severity").value(name_of(alert.severity));
  json.key("uuid").value(alert.uuid).key("device").value(alert.device);
  json.key("raised_ns").value(alert.raised_ns);
  member_if_known(json, "cleared_ns", alert.cleared_ns);
  member_if_known(json, "value", alert.value);
  member_if_known(json, "limit", alert.limit);
  json.key("message").value(alert.message).key("cause").value(alert.cause);
  json.end_object();
}

void write_ranges(JsonWriter& json,
                  const std::map<std::string, std::map<std::string, MetricRange>>& metrics) {
  json.begin_object();
  for (const auto& [uuid, of_device] : metrics) {
    json.key(uuid).begin_object();
    for (const auto& [name, range] : of_device) {
      json.key(name).begin_object();
      member_if_known(json, "least", range.least);
      member_if_known(json, "mean", range.mean);
      member_if_known(json, "most", range.most);
      json.end_object();
    }
    json.end_object();
  }
  json.end_object();
}

void write_suggestions(JsonWriter& json, const std::vector<MonitorSuggestion>& suggestions) {
  json.begin_array();
  for (const MonitorSuggestion& each : suggestions) {
    json.begin_object().key("kind").value(each.kind).key("title").value(each.title);
    json.key("detail").value(each.detail).key("evidence").value(each.evidence).end_object();
  }
  json.end_array();
}

void write_history_members(JsonWriter& json, const std::vector<Snapshot>& snapshots) {
  std::map<std::string, std::string> names;
  json.key("times_ms").begin_array();
  for (const Snapshot& snapshot : snapshots) {
    json.value(snapshot.time_ns / 1'000'000);
    for (const GpuDevice& device : snapshot.devices) names[device.uuid] = device.name;
  }
  json.end_array().key("devices").begin_object();
  for (const auto& [uuid, name] : names) {
    json.key(uuid).begin_object().key("name").value(name);
    for (const Column& column : kColumns) {
      json.key(column.name).begin_array();
      for (const Snapshot& snapshot : snapshots) {
        const GpuDevice* const device = find_device(snapshot, uuid);
        json.value(device != nullptr ? column.get(device->now) : std::nullopt);
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_object();
}

void write_history(JsonWriter& json, const std::vector<Snapshot>& snapshots) {
  json.begin_object();
  write_history_members(json, snapshots);
  json.end_object();
}

std::string to_json(const SessionReport& report) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("schema").value("https://fathom.invalid/monitor_session.schema.json");
  json.key("fathom").value(FATHOM_VERSION).key("session");
  write_session(json, report.session);
  json.key("config");
  write_config(json, report.session.config);
  json.key("alerts").begin_array();
  for (const Alert& alert : report.alerts) write_alert(json, alert);
  json.end_array().key("metrics");
  write_ranges(json, report.metrics);
  json.key("suggestions");
  write_suggestions(json, report.suggestions);
  json.key("history");
  write_history(json, report.snapshots);
  json.end_object();
  return text + "\n";
}

}  // namespace fathom::monitor
