#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fathom/monitor.h"
#include "monitor/leak_watch.h"

namespace fathom::monitor {

// A change: an alert that was raised, or one that was cleared (it has cleared_ns).
using AlertChanges = std::vector<Alert>;

// What an alert waits for. An alert is raised once its condition has held for `hold`, and cleared
// once it has been clearly over (by the margin, docs/monitoring.md) for `calm`. After that, one of
// the same kind on the same device is raised again only after `cool_down`, unless it is worse.
struct AlertPace {
  std::int64_t hold_ns = 0;
  std::int64_t calm_ns = 0;
  std::int64_t cool_down_ns = 0;
};
AlertPace pace_of(AlertKind kind);

constexpr double kTemperatureMargin = 5;         // degrees below a limit
constexpr double kPercentMargin = 5;             // points below a limit
constexpr std::uint64_t kCorrectedPerHour = 10;  // more corrected memory errors than that are told

// Watches the limits of one configuration; a pure function of what it is fed.
class AlertWatch {
 public:
  // `next_id` is counted up with each alert.
  AlertWatch(const MonitorConfig& config, std::uint64_t& next_id)
      : config_(config), next_id_(next_id) {}

  AlertChanges take(std::int64_t time_ns, const std::vector<GpuDevice>& devices,
                    const std::vector<DeviceError>& errors, const std::vector<Leak>& leaks);

  std::vector<Alert> active() const;

 private:
  // What a look says of one kind of alert on one device.
  struct Condition {
    bool is_known = false;
    bool is_calm = true;                    // clearly below every limit
    bool is_below_critical = true;          // clearly below the critical one
    std::optional<AlertSeverity> severity;  // of the limit it has reached
    std::optional<double> value, limit;
    std::string message, cause;
  };
  struct Tracker {
    std::optional<Alert> active;
    std::optional<std::int64_t> reached_ns, calm_since_ns, cleared_ns;
    AlertSeverity last_severity = AlertSeverity::warning;
  };
  using Key = std::tuple<std::string, AlertKind, std::int64_t>;  // uuid, kind, XID or pid

  void judge(const GpuDevice& device, AlertKind kind, std::int64_t which,
             const Condition& condition);
  void raise(Tracker& tracker, const GpuDevice& device, AlertKind kind, const Condition& condition);
  void clear(Tracker& tracker);
  void clear_those_of_devices_that_went(const std::vector<GpuDevice>& devices);

  Condition level(std::optional<double> value, double warning, std::optional<double> critical,
                  double margin) const;
  void judge_temperature(const GpuDevice& device);
  void judge_memory(const GpuDevice& device);
  void judge_utilization(const GpuDevice& device);
  void judge_lost(const GpuDevice& device);
  void judge_throttling(const GpuDevice& device);
  void judge_ecc(const GpuDevice& device);
  void judge_errors(const GpuDevice& device, const std::vector<DeviceError>& errors);
  void judge_leaks(const GpuDevice& device, const std::vector<Leak>& leaks);

  MonitorConfig config_;
  std::uint64_t& next_id_;
  std::map<Key, Tracker> trackers_;
  struct EccCounts {
    std::uint64_t uncorrected = 0;
    std::uint64_t corrected = 0;  // when the hour began
    std::int64_t hour_began_ns = 0;
  };
  std::map<std::string, EccCounts> ecc_;
  std::int64_t now_ns_ = 0;  // of the look that is judged
  AlertChanges changes_;
};

}  // namespace fathom::monitor
