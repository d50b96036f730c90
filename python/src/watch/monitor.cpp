// The module fathom._monitor: include/fathom/monitor.h, with the JSON that the commands and the
// server write.
#include "fathom/monitor.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "devices/device_json.h"
#include "monitor/config_fields.h"
#include "monitor/monitor_json.h"
#include "native/errors.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

using base::JsonWriter;
using Settings = std::map<std::string, std::string>;
using WithoutGil = py::call_guard<py::gil_scoped_release>;

constexpr std::size_t kMostEvents = 10'000;  // that nobody has asked for yet

MonitorConfig config_of(const Settings& settings) {
  MonitorConfig config;
  const auto fields = monitor::config_fields();
  for (const auto& [name, value] : settings) {
    if (name == "demo") {
      config.demo = value == "true";
      continue;
    }
    const auto field = std::ranges::find_if(
        fields, [&wanted = name](const auto& each) { return each.name == wanted; });
    if (field == fields.end()) throw std::runtime_error("unknown setting '" + name + "'");
    const std::string wrong = monitor::set_field(config, *field, value);
    if (!wrong.empty()) throw std::runtime_error(name + ": " + wrong);
  }
  const std::string wrong = monitor::problem_of(config);
  if (!wrong.empty()) throw std::runtime_error(wrong);
  return config;
}

template <typename Write>
std::string json_of(const Write& write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  return out;
}

void write_devices(JsonWriter& json, const std::vector<GpuDevice>& devices) {
  json.begin_array();
  for (const GpuDevice& device : devices) {
    devices::write_device(json, device, devices::Commands::hidden);
  }
  json.end_array();
}

std::string snapshot_json(const Snapshot& snapshot) {
  return json_of([&](JsonWriter& json) {
    json.begin_object().key("time_ns").value(snapshot.time_ns);
    json.key("trigger").value(snapshot.trigger).key("devices");
    write_devices(json, snapshot.devices);
    json.end_object();
  });
}

std::string sessions_json(const std::vector<MonitorSession>& sessions) {
  return json_of([&](JsonWriter& json) {
    json.begin_array();
    for (const MonitorSession& session : sessions) monitor::write_session(json, session);
    json.end_array();
  });
}

std::string alerts_json(const std::vector<Alert>& alerts) {
  return json_of([&](JsonWriter& json) {
    json.begin_array();
    for (const Alert& alert : alerts) monitor::write_alert(json, alert);
    json.end_array();
  });
}

std::string health_json(const Health& health) {
  return json_of([&](JsonWriter& json) {
    json.begin_object().key("is_healthy").value(health.is_healthy);
    json.key("problem").value(health.problem).key("devices").value(health.devices);
    if (health.last_snapshot_age_seconds) {
      json.key("last_snapshot_age_seconds").value(*health.last_snapshot_age_seconds);
    }
    json.key("cpu_percent").value(health.cpu_percent).key("backends").begin_array();
    for (const BackendHealth& backend : health.backends) {
      json.begin_object().key("name").value(backend.name).key("is_up").value(backend.is_up);
      json.key("problem").value(backend.problem).end_object();
    }
    json.end_array().end_object();
  });
}

// Keeps what the monitor tells until Python asks: its thread never waits for the GIL.
struct Watch {
  explicit Watch(const Settings& settings) : monitor(config_of(settings)) {
    subscription = monitor.subscribe([this](const Event& event) {
      const std::lock_guard lock(mutex);
      if (events.size() < kMostEvents) events.push_back(event);
    });
  }
  ~Watch() { monitor.unsubscribe(subscription); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::deque<Event> take_events() {
    const std::lock_guard lock(mutex);
    return std::exchange(events, {});
  }

  std::mutex mutex;
  std::deque<Event> events;
  Monitor monitor;
  int subscription = 0;
};

py::list events_of(Watch& watch) {
  py::list list;
  for (const Event& event : watch.take_events()) {
    list.append(py::make_tuple(event.name, event.time_ns, event.fields));
  }
  return list;
}

Settings settings_in(const std::string& path) {
  const MonitorConfig config = read_monitor_config(path);
  Settings settings;
  for (const monitor::ConfigField& field : monitor::config_fields()) {
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(config.*member)>;
          std::string text;
          if constexpr (std::is_enum_v<Value>) {
            text = monitor::name_of(config.*member);
          } else if constexpr (std::is_same_v<Value, std::string>) {
            text = config.*member;
          } else if constexpr (std::is_same_v<Value, bool>) {
            text = config.*member ? "true" : "false";
          } else {
            text = py::str(py::cast(config.*member));
          }
          settings[std::string(field.name)] = text;
        },
        field.member);
  }
  return settings;
}

}  // namespace

PYBIND11_MODULE(_monitor, module) {
  py::register_local_exception_translator(raise_error);
  py::class_<Watch>(module, "Monitor")
      .def(py::init<const Settings&>(), WithoutGil())
      .def(
          "start", [](Watch& w) { w.monitor.start(); }, WithoutGil())
      .def(
          "stop", [](Watch& w) { w.monitor.stop(); }, WithoutGil())
      .def(
          "devices",
          [](Watch& w) {
            return json_of([&](JsonWriter& json) { write_devices(json, w.monitor.devices()); });
          },
          WithoutGil())
      .def(
          "take_snapshot",
          [](Watch& w, const std::string& trigger) {
            return snapshot_json(w.monitor.take_snapshot(trigger));
          },
          WithoutGil())
      .def(
          "start_session",
          [](Watch& w, const std::string& name, const std::string& description,
             const std::optional<Settings>& settings) {
            std::optional<MonitorConfig> config;
            if (settings) config = config_of(*settings);
            return w.monitor.start_session(name, description, config);
          },
          WithoutGil())
      .def(
          "stop_session",
          [](Watch& w, const std::string& id) {
            return monitor::to_json(w.monitor.stop_session(id));
          },
          WithoutGil())
      .def(
          "session_report",
          [](Watch& w, const std::string& id) {
            return monitor::to_json(w.monitor.session_report(id));
          },
          WithoutGil())
      .def(
          "sessions", [](Watch& w) { return sessions_json(w.monitor.sessions()); }, WithoutGil())
      .def(
          "track_inference",
          [](Watch& w, double ms, const std::string& id) { w.monitor.track_inference(ms, id); },
          WithoutGil())
      .def(
          "inference",
          [](Watch& w) {
            return json_of(
                [&](JsonWriter& json) { monitor::write_inference(json, w.monitor.inference()); });
          },
          WithoutGil())
      .def(
          "alerts", [](Watch& w) { return alerts_json(w.monitor.alerts()); }, WithoutGil())
      .def(
          "health", [](Watch& w) { return health_json(w.monitor.health()); }, WithoutGil())
      .def(
          "publish",
          [](Watch& w, const std::string& name, const Settings& fields) {
            w.monitor.publish({name, 0, fields});
          },
          WithoutGil())
      .def("take_events", events_of);
  module.def("check_config", [](const Settings& settings) { config_of(settings); });
  module.def("read_config", settings_in);
}

}  // namespace fathom::python
