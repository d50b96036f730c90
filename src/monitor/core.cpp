#include "monitor/core.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "monitor/alert_words.h"
#include "monitor/config_fields.h"

namespace fathom::monitor {
namespace {

constexpr std::size_t kMostCleared = 100;
constexpr std::size_t kMostEvents = 10'000;  // that wait to be taken

std::string field_of(const Event& event, const char* name) {
  const auto found = event.fields.find(name);
  return found == event.fields.end() ? std::string() : found->second;
}

}  // namespace

Core::Core(const MonitorConfig& config)
    : config_(config),
      history_(config.max_snapshots, History::WhenFull::drop_oldest),
      pace_(sampling_interval(config).count()),
      alert_watch_(config, next_alert_id_),
      sessions_(config.output_dir, config.max_profiling_sessions) {}

std::int64_t Core::tick_ns() const {
  return std::min(pace_.interval_ns(), sessions_.shortest_interval_ns());
}

Snapshot Core::take(std::int64_t time_ns, devices::Devices devices, const std::string& trigger) {
  Snapshot snapshot{.time_ns = time_ns, .trigger = trigger, .devices = std::move(devices.devices)};
  backends_ = std::move(devices.backends);
  forget_stale(snapshot.devices);
  note_devices(time_ns, snapshot.devices);
  if (config_.enable_memory_tracking) leak_watch_.take(time_ns, snapshot.devices);
  const std::vector<Leak> leaks = leak_watch_.leaks();
  const AlertChanges changes = alert_watch_.take(time_ns, snapshot.devices, devices.errors, leaks);
  for (const Alert& alert : changes) note_alert(alert, {});

  sessions_.take(
      snapshot, tick_ns(), devices.errors, leaks, changes,
      [&](const std::string& session, const Alert& alert) { note_alert(alert, session); });
  sessions_.write_down(time_ns);
  const bool is_kept = trigger != "interval" || pace_.is_due(time_ns, tick_ns());
  if (is_kept) {
    history_.add(snapshot);
    add_event("ProfilingDataGenerated", time_ns,
              {{"kind", "snapshot"},
               {"trigger", trigger},
               {"devices", std::to_string(snapshot.devices.size())}});
  }
  if (is_kept) newest_ = snapshot;
  return snapshot;
}

std::vector<Snapshot> Core::snapshots(std::size_t count) const {
  std::vector<Snapshot> all = history_.last(count);
  if (!all.empty()) all.back() = newest_;  // with processes
  return all;
}

// What a driver that hangs said last is not what the device does now: nobody knows that.
void Core::forget_stale(std::vector<GpuDevice>& devices) const {
  const double most = stale_after_seconds(std::chrono::nanoseconds(tick_ns()));
  for (GpuDevice& device : devices) {
    if (device.age_seconds.value_or(0) <= most) continue;
    device.now = {};
    for (GpuProcess& process : device.processes) {
      process.memory_bytes.reset();
      process.utilization_percent.reset();
    }
  }
}

void Core::note_devices(std::int64_t time_ns, const std::vector<GpuDevice>& devices) {
  for (const GpuDevice& device : devices) {
    const bool is_there = device.state != DeviceState::lost;
    const auto [known, is_new] = is_there_.try_emplace(device.uuid, false);
    if (known->second == is_there && !is_new) continue;
    if (is_new && !is_there) continue;
    known->second = is_there;
    add_event(is_there ? "DeviceFound" : "DeviceLost", time_ns,
              {{"uuid", device.uuid}, {"name", device.name}});
  }
  // Parts of a GPU that were taken apart are not listed any more.
  std::erase_if(is_there_, [&](const auto& each) {
    return std::ranges::find(devices, each.first, &GpuDevice::uuid) == devices.end();
  });
}

void Core::note_alert(const Alert& alert, const std::string& session) {
  std::map<std::string, std::string> fields = {{"id", std::to_string(alert.id)},
                                               {"kind", std::string(name_of(alert.kind))},
                                               {"severity", std::string(name_of(alert.severity))},
                                               {"uuid", alert.uuid},
                                               {"device", alert.device},
                                               {"message", alert.message},
                                               {"cause", alert.cause}};
  if (!session.empty()) fields["session"] = session;
  if (!alert.cleared_ns) {
    add_event("PerformanceAlertTriggered", alert.raised_ns, std::move(fields));
    if (session.empty()) ++alerts_total_[static_cast<std::size_t>(alert.kind)];
    return;
  }
  add_event("AlertCleared", *alert.cleared_ns, std::move(fields));
  if (!session.empty()) return;
  cleared_.push_back(alert);
  if (cleared_.size() > kMostCleared) cleared_.pop_front();
}

std::vector<Alert> Core::alerts() const {
  std::vector<Alert> all(cleared_.begin(), cleared_.end());
  std::ranges::move(alert_watch_.active(), std::back_inserter(all));
  std::ranges::sort(all, {}, &Alert::id);
  return all;
}

std::string Core::start_session(const std::string& name, const std::string& description,
                                const std::optional<MonitorConfig>& config, std::int64_t time_ns) {
  const std::string problem = config ? problem_of(*config) : std::string();
  if (!problem.empty()) throw base::Error("session", problem);
  const std::string id = sessions_.start(name, description, config.value_or(config_),
                                         config.has_value(), time_ns, next_alert_id_);
  add_event("ProfilerStarted", time_ns, {{"session", id}, {"name", name}});
  return id;
}

SessionReport Core::stop_session(const std::string& id, std::int64_t time_ns) {
  SessionReport report = sessions_.stop(id, time_ns);
  add_event("ProfilingDataGenerated", time_ns,
            {{"kind", "report"}, {"session", id}, {"path", report.json_path}});
  add_event("ProfilerStopped", time_ns, {{"session", id}, {"name", report.session.name}});
  return report;
}

void Core::stop_all_sessions(std::int64_t time_ns) {
  for (const std::string& id : sessions_.running()) stop_session(id, time_ns);
}

void Core::track_inference(double milliseconds, const std::string& session, std::int64_t time_ns) {
  const InferenceStats::Part part = InferenceStats::part_of(milliseconds);
  if (part.count == 0) return;
  if (!session.empty()) {
    const auto running = sessions_.find_running(session);
    if (!running) throw base::Error("session", "there is no running session '" + session + "'");
    sessions_.track_inference(*running, part, time_ns);
  }
  inference_.add(part);
}

void Core::handle(const Event& event) {
  try {
    const std::string session = field_of(event, "session");
    if (event.name == "session_started") {
      start_session(session, field_of(event, "description"), {}, event.time_ns);
    } else if (event.name == "session_ended") {
      const auto running = sessions_.find_running(session);
      if (!running) throw base::Error("session", "there is no running session '" + session + "'");
      stop_session(*running, event.time_ns);
    } else if (event.name == "inference_completed") {
      const std::string text = field_of(event, "ms");
      double ms = -1;
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, ms);
      if (text.empty() || read.ptr != end || !(ms >= 0)) {
        throw base::Error("inference_completed", "its field 'ms' must be a number of milliseconds");
      }
      track_inference(ms, session, event.time_ns);
    } else if (event.name == "system_shutdown_started") {
      stop_all_sessions(event.time_ns);
    }
  } catch (const std::exception& error) {
    add_event("EventRefused", event.time_ns, {{"event", event.name}, {"problem", error.what()}});
  }
}

std::vector<Event> Core::take_events() {
  return std::exchange(events_, {});
}

void Core::add_event(std::string name, std::int64_t time_ns,
                     std::map<std::string, std::string> fields) {
  if (events_.size() >= kMostEvents) return;
  events_.push_back({std::move(name), time_ns, std::move(fields)});
}

}  // namespace fathom::monitor
