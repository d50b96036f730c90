#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "devices/watcher.h"
#include "fathom/monitor.h"
#include "monitor/alerts.h"
#include "monitor/history.h"
#include "monitor/inference_stats.h"
#include "monitor/leak_watch.h"
#include "monitor/sessions.h"

namespace fathom::monitor {

// All that a monitor is, but for its clock and its devices: it is told of both. One thread at a
// time.
class Core {
 public:
  explicit Core(const MonitorConfig& config);

  // What the devices do at a time. Returns the snapshot, whether it was kept or not.
  Snapshot take(std::int64_t time_ns, devices::Devices devices, const std::string& trigger);
  const Snapshot& newest() const { return newest_; }
  std::vector<Snapshot> snapshots(std::size_t count) const;
  std::size_t history_bytes() const { return history_.bytes(); }
  // Between calls of take() with the trigger "interval".
  std::int64_t tick_ns() const;

  std::string start_session(const std::string& name, const std::string& description,
                            const std::optional<MonitorConfig>& config, std::int64_t time_ns);
  SessionReport stop_session(const std::string& id, std::int64_t time_ns);
  void stop_all_sessions(std::int64_t time_ns);
  Sessions& sessions() { return sessions_; }
  const Sessions& sessions() const { return sessions_; }

  void track_inference(double milliseconds, const std::string& session, std::int64_t time_ns);
  InferenceFigures inference() const { return inference_.figures(); }

  std::vector<Alert> alerts() const;
  std::uint64_t alerts_total(AlertKind kind) const {
    return alerts_total_[static_cast<std::size_t>(kind)];
  }

  // An event from outside. Never throws: what cannot be done becomes an event "EventRefused".
  void handle(const Event& event);
  bool has_events() const { return !events_.empty(); }
  std::vector<Event> take_events();  // that happened since the last call
  void add_event(std::string name, std::int64_t time_ns, std::map<std::string, std::string> fields);

  const std::vector<devices::BackendStatus>& backends() const { return backends_; }

 private:
  void note_alert(const Alert& alert, const std::string& session);
  void forget_stale(std::vector<GpuDevice>& devices) const;
  void note_devices(std::int64_t time_ns, const std::vector<GpuDevice>& devices);

  MonitorConfig config_;
  std::uint64_t next_alert_id_ = 1;
  History history_;
  Pace pace_;
  Snapshot newest_;
  AlertWatch alert_watch_;
  LeakWatch leak_watch_;
  Sessions sessions_;
  InferenceStats inference_;
  std::deque<Alert> cleared_;  // the last hundred
  std::array<std::uint64_t, 8> alerts_total_ = {};
  std::map<std::string, bool> is_there_;  // devices by uuid
  std::vector<devices::BackendStatus> backends_;
  std::vector<Event> events_;
};

}  // namespace fathom::monitor
