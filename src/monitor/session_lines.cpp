#include "monitor/session_lines.h"

#include <utility>

#include "base/json_writer.h"
#include "monitor/config_fields.h"
#include "monitor/device_identity.h"
#include "monitor/monitor_json.h"
#include "monitor/reading_fields.h"

namespace fathom::monitor {
namespace {

using base::JsonWriter;

constexpr int kSessionVersion = 1;

std::string line_of(std::string text) {
  text += '\n';
  return text;
}

std::string device_line(std::size_t id, const GpuDevice& device) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("device").begin_object().key("id").value(id);
  json.key("index").value(device.index);
  for (const IdentityText& each : kIdentityTexts) json.key(each.name).value(device.*each.member);
  if (device.memory_total_bytes) json.key("memory_total_bytes").value(*device.memory_total_bytes);
  for (const IdentityNumber& each : kIdentityNumbers) {
    if (device.*each.member) json.key(each.name).value(*(device.*each.member));
  }
  json.end_object().end_object();
  return line_of(std::move(text));
}

}  // namespace

std::string start_line(const MonitorSession& session) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("session").begin_object().key("version").value(kSessionVersion);
  json.key("id").value(session.id).key("name").value(session.name);
  json.key("description").value(session.description);
  json.key("started_ns").value(session.started_ns).key("fields").begin_array();
  for (const ReadingField& field : reading_fields()) json.value(field.name);
  json.end_array().key("config");
  write_config(json, session.config);
  json.end_object().end_object();
  return line_of(std::move(text));
}

std::string alert_line(const Alert& alert) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("alert");
  write_alert(json, alert);
  json.end_object();
  return line_of(std::move(text));
}

std::string inference_line(const InferenceStats::Part& part) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("inference").begin_object();
  json.key("count").value(part.count).key("sum_ns").value(part.sum_ns);
  json.key("min_ns").value(part.min_ns).key("max_ns").value(part.max_ns);
  json.key("sketch").begin_array();
  for (const auto& [bucket, count] : part.sketch) {
    json.begin_array().value(bucket).value(count).end_array();
  }
  json.end_array().key("buckets").begin_array();
  for (const std::uint64_t count : part.buckets) json.value(count);
  json.end_array().end_object().end_object();
  return line_of(std::move(text));
}

std::string end_line(const MonitorSession& session) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("end").begin_object();
  json.key("stopped_ns").value(session.stopped_ns);
  json.key("was_interrupted").value(session.was_interrupted);
  json.key("snapshots").value(session.snapshots).key("alerts").value(session.alerts);
  json.key("inference");
  write_inference(json, session.inference);
  json.end_object().end_object();
  return line_of(std::move(text));
}

std::string SampleLines::lines(const Snapshot& snapshot, bool with_processes) {
  std::string sample;
  JsonWriter json(sample);
  json.begin_object().key("time_ns").value(snapshot.time_ns);
  json.key("trigger").value(snapshot.trigger).key("devices").begin_array();
  for (const GpuDevice& device : snapshot.devices) {
    json.begin_array().value(table_.id_of(device)).value(static_cast<int>(device.state));
    json.value(device.age_seconds);
    for (const ReadingField& field : reading_fields()) json.value(field.get(device.now));
    json.end_array();
  }
  json.end_array();
  if (with_processes) {
    json.key("processes").begin_array();
    for (const GpuDevice& device : snapshot.devices) {
      for (const GpuProcess& process : device.processes) {
        json.begin_array().value(table_.id_of(device)).value(process.pid).value(process.name);
        json.value(process.memory_bytes).value(process.utilization_percent).end_array();
      }
    }
    json.end_array();
  }
  json.end_object();
  std::string text;
  for (; described_ < table_.size(); ++described_) {
    text += device_line(described_, table_.identity(described_));
  }
  return text + line_of(std::move(sample));
}

}  // namespace fathom::monitor
