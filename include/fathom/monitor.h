#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/export.h"
#include "fathom/gpu_device.h"

// Watching GPUs: what they do now, what they did in a session, and what to worry about.
// Link with fathom::monitor. All of it may be called from any thread.
namespace fathom {

// How much is asked of a device at each look, and how often.
enum class MonitorMode { basic, standard, detailed, comprehensive };
enum class MonitorLevel { low, medium, high, maximum };

// As in the section `gpu_profiler` of fathom.yaml; docs/monitoring.md explains each.
struct MonitorConfig {
  MonitorMode mode = MonitorMode::standard;
  MonitorLevel level = MonitorLevel::medium;
  double monitoring_interval_seconds = 1.0;
  double metrics_update_interval_seconds = 5.0;
  double device_discovery_interval_seconds = 30.0;
  bool enable_cuda_profiling = true;
  bool enable_opencl_profiling = true;
  bool enable_thermal_monitoring = true;
  bool enable_power_monitoring = true;
  bool enable_memory_tracking = true;
  double temperature_warning_celsius = 80;
  double temperature_critical_celsius = 90;
  double memory_warning_percent = 80;
  double memory_critical_percent = 95;
  double utilization_warning_percent = 90;
  std::size_t max_snapshots = 1000;
  std::size_t max_profiling_sessions = 100;
  std::string output_dir = "data/profiling/gpu";
  bool export_json_reports = true;
  bool demo = false;  // two GPUs that do not exist, for people to look at
};

// Reads the section `gpu_profiler` of a YAML file. Throws std::runtime_error whose text names the
// key and the line, and says what would be right.
FATHOM_API MonitorConfig read_monitor_config(const std::string& path);

// All devices at one moment.
struct Snapshot {
  std::int64_t time_ns = 0;  // since 1970
  std::string trigger;       // "interval", "on_demand", or as the caller says
  std::vector<GpuDevice> devices;
};

enum class AlertKind { thermal, memory, utilization, device_lost, xid, ecc, throttling, leak };
enum class AlertSeverity { warning, critical };

struct Alert {
  std::uint64_t id = 0;  // counted from 1 within a monitor
  AlertKind kind = AlertKind::thermal;
  AlertSeverity severity = AlertSeverity::warning;
  std::string uuid;    // of the device
  std::string device;  // its name
  std::int64_t raised_ns = 0;
  std::optional<std::int64_t> cleared_ns;  // absent while it lasts
  std::optional<double> value;
  std::optional<double> limit;
  std::string message;  // what happened, for a person
  std::string cause;    // why, where that is known
};

// How long requests took: exact count and sum, quantiles of a sketch (within 1 %).
struct InferenceFigures {
  std::uint64_t count = 0;
  double sum_ms = 0;
  std::optional<double> mean_ms, min_ms, max_ms, p50_ms, p95_ms, p99_ms;
  std::vector<std::pair<double, std::uint64_t>> buckets;  // at most so many ms: so many, cumulative
};

struct MonitorSuggestion {
  std::string
      kind;  // "low_utilization", "high_memory", "high_temperature", "throttling", "slow_inference"
  std::string title;     // what to do
  std::string detail;    // how
  std::string evidence;  // the figures it rests on
};

struct MonitorSession {
  std::string id;
  std::string name;
  std::string description;
  std::int64_t started_ns = 0;
  std::optional<std::int64_t> stopped_ns;  // absent while it runs
  bool was_interrupted = false;            // the monitor died while it ran
  MonitorConfig config;
  std::uint64_t snapshots = 0;
  std::uint64_t alerts = 0;
  InferenceFigures inference;
};

// Smallest, mean and largest of a metric over a session; absent where it was never known.
struct MetricRange {
  std::optional<double> least, mean, most;
};

struct SessionReport {
  MonitorSession session;
  std::vector<Snapshot> snapshots;
  std::vector<Alert> alerts;
  std::map<std::string, std::map<std::string, MetricRange>> metrics;  // by uuid, then metric
  std::vector<MonitorSuggestion> suggestions;
  std::string json_path;  // where it was exported; empty where it was not
};

// On the bus. Out: ProfilerStarted, ProfilerStopped, PerformanceAlertTriggered,
// ProfilingDataGenerated, and DeviceFound, DeviceLost, AlertCleared. In: session_started,
// session_ended, inference_completed, system_shutdown_started.
struct Event {
  std::string name;
  std::int64_t time_ns = 0;
  std::map<std::string, std::string> fields;
};

struct BackendHealth {
  std::string name;
  bool is_up = false;
  std::string problem;
  std::optional<double> age_seconds;
  double look_seconds = 0;
};

struct Health {
  bool is_healthy = false;
  std::string problem;  // the first one; empty where all is well
  std::size_t devices = 0;
  std::optional<double> last_snapshot_age_seconds;
  double cpu_percent = 0;  // of one core, what this monitor's threads took since its start
  std::vector<BackendHealth> backends;
};

class FATHOM_API Monitor {
 public:
  explicit Monitor(const MonitorConfig& config = {});
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void start();
  void stop();  // ends the sessions that run, and waits for no driver
  const MonitorConfig& config() const;

  std::vector<GpuDevice> devices() const;
  Snapshot take_snapshot(const std::string& trigger = "on_demand");
  // The last `count` of those kept (max_snapshots), oldest first; 0 for all. Processes are in the
  // newest alone.
  std::vector<Snapshot> snapshots(std::size_t count = 0) const;

  // Throws std::runtime_error where a session cannot be had: too many, or nowhere to keep it.
  std::string start_session(const std::string& name, const std::string& description = "",
                            const std::optional<MonitorConfig>& config = {});
  SessionReport stop_session(const std::string& id);  // throws where there is no such session
  SessionReport session_report(const std::string& id) const;
  std::vector<MonitorSession> sessions() const;  // those of earlier runs too, newest first

  // Of a session, or of the monitor alone.
  void track_inference(double milliseconds, const std::string& session = "");
  InferenceFigures inference() const;  // of all, since the start

  std::vector<Alert> alerts() const;  // those that last, and the last hundred that do not
  std::uint64_t alerts_total(AlertKind kind) const;
  std::uint64_t sessions_total() const;

  // Called on the thread of the monitor, one event at a time; returns what unsubscribe() takes.
  int subscribe(std::function<void(const Event&)> listener);
  void unsubscribe(int subscription);
  void publish(const Event& event);  // of the names that come in; others only reach listeners

  Health health() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
