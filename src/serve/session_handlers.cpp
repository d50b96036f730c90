// Sessions of the monitor: /api/sessions…

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "base/json_writer.h"
#include "monitor/config_fields.h"
#include "monitor/monitor_json.h"
#include "serve/answers.h"
#include "serve/routes.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kMostSessionNameBytes = 200;
constexpr std::size_t kMostDescriptionBytes = 4000;

std::optional<MonitorSession> session_of(Services& services, const std::string& id) {
  for (MonitorSession& session : services.monitor.sessions()) {
    if (session.id == id) return std::move(session);
  }
  return {};
}

std::string session_json(const MonitorSession& session) {
  std::string text;
  base::JsonWriter json(text);
  monitor::write_session(json, session);
  return text;
}

// What a session is to have different from its monitor; nothing where that is nothing. Throws
// base::Error.
std::optional<MonitorConfig> own_settings(const Fields& fields, const MonitorConfig& of_monitor) {
  std::vector<monitor::Setting> settings;
  for (const auto& [name, text] : fields.all()) {
    if (name == "name" || name == "description") continue;
    const auto field =
        std::ranges::find(monitor::config_fields(), name, &monitor::ConfigField::name);
    if (field == monitor::config_fields().end()) throw base::Error(name, "unknown setting");
    if (!field->is_of_session)
      throw base::Error(name, "is a setting of the server, not of a session");
    settings.push_back({&*field, text, name});
  }
  if (settings.empty()) return {};
  MonitorConfig config = of_monitor;
  monitor::apply_settings(config, settings);
  const std::string problem = monitor::problem_of(config);
  if (!problem.empty()) throw base::Error("session", problem);
  return config;
}

Response no_such_session() {
  return error_answer(404, "There is no session of this id");
}

}  // namespace

Response get_sessions(Services& services, Call&) {
  std::string text;
  base::JsonWriter json(text);
  begin_answer(json, "Sessions").key("sessions").begin_array();
  for (const MonitorSession& session : services.monitor.sessions())
    monitor::write_session(json, session);
  json.end_array().end_object();
  return json_answer(200, std::move(text));
}

Response post_session(Services& services, Call& call) {
  const auto fields = Fields::of(call.body);
  const auto name = fields ? fields->text("name") : std::nullopt;
  if (!name || name->empty() || name->size() > kMostSessionNameBytes)
    return error_answer(400, "A session has a name of at most 200 bytes: {\"name\": \"…\"}");
  const std::string description = fields->text("description").value_or("");
  if (description.size() > kMostDescriptionBytes)
    return error_answer(400, "The description is longer than 4,000 bytes");
  std::optional<MonitorConfig> config;
  try {
    config = own_settings(*fields, services.monitor.config());
  } catch (const base::Error& error) {
    return error_answer(400, error.what());
  }
  try {
    const std::string id = services.monitor.start_session(*name, description, config);
    const auto session = session_of(services, id);
    if (!session) return no_such_session();
    services.tell_session(session_json(*session));
    return json_answer(201, session_json(*session));
  } catch (const std::runtime_error& error) {
    return error_answer(409, error.what());
  }
}

Response get_session(Services& services, Call& call) {
  const std::string& id = call.parameters.front();
  if (!session_of(services, id)) return no_such_session();
  return json_answer(200, monitor::to_json(services.monitor.session_report(id)));
}

Response post_stop(Services& services, Call& call) {
  const std::string& id = call.parameters.front();
  const auto session = session_of(services, id);
  if (!session || session->stopped_ns)
    return session ? error_answer(404, "This session does not run any more") : no_such_session();
  try {
    const SessionReport report = services.monitor.stop_session(id);
    services.tell_session(session_json(report.session));
    return json_answer(200, monitor::to_json(report));
  } catch (const std::runtime_error&) {  // another process has it, or somebody else stopped it
    return error_answer(404, "This session is not one of this server's that runs");
  }
}

Response post_inference(Services& services, Call& call) {
  const auto fields = Fields::of(call.body);
  const auto ms = fields ? fields->number("ms") : std::nullopt;
  if (!ms || !std::isfinite(*ms) || *ms < 0)
    return error_answer(400, "The body is not {\"ms\": a number of milliseconds}");
  try {
    services.monitor.track_inference(*ms, call.parameters.front());
  } catch (const std::runtime_error&) {
    return error_answer(404, "There is no session of this id that runs");
  }
  return {.status = 204};
}

}  // namespace fathom::serve
