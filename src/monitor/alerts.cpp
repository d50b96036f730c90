#include "monitor/alerts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "monitor/alert_words.h"

namespace fathom::monitor {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kHourNs = 3600 * kSecondNs;

// A clock that was set back is a clock that stands still.
std::int64_t since(std::int64_t then_ns, std::int64_t now_ns) {
  return std::max<std::int64_t>(0, now_ns - then_ns);
}

}  // namespace

AlertPace pace_of(AlertKind kind) {
  switch (kind) {
    case AlertKind::thermal:
      return {0, 0, 60 * kSecondNs};
    case AlertKind::memory:
      return {0, 0, 60 * kSecondNs};
    case AlertKind::utilization:
      return {60 * kSecondNs, 0, 60 * kSecondNs};
    case AlertKind::device_lost:
      return {0, 0, 0};
    case AlertKind::xid:
      return {0, 60 * kSecondNs, 0};
    case AlertKind::ecc:
      return {0, 600 * kSecondNs, 0};
    case AlertKind::throttling:
      return {0, 10 * kSecondNs, 60 * kSecondNs};
    case AlertKind::leak:
      return {0, 120 * kSecondNs, 600 * kSecondNs};
  }
  return {};
}

AlertChanges AlertWatch::take(std::int64_t time_ns, const std::vector<GpuDevice>& devices,
                              const std::vector<DeviceError>& errors,
                              const std::vector<Leak>& leaks) {
  now_ns_ = time_ns;
  changes_.clear();
  for (const GpuDevice& device : devices) {
    judge_temperature(device);
    judge_memory(device);
    judge_utilization(device);
    judge_lost(device);
    judge_throttling(device);
    judge_ecc(device);
    judge_errors(device, errors);
    judge_leaks(device, leaks);
  }
  clear_those_of_devices_that_went(devices);
  return std::exchange(changes_, {});
}

std::vector<Alert> AlertWatch::active() const {
  std::vector<Alert> all;
  for (const auto& [key, tracker] : trackers_) {
    if (tracker.active) all.push_back(*tracker.active);
  }
  std::ranges::sort(all, {}, &Alert::id);
  return all;
}

void AlertWatch::raise(Tracker& tracker, const GpuDevice& device, AlertKind kind,
                       const Condition& condition) {
  tracker.active = {.id = next_id_++,
                    .kind = kind,
                    .severity = *condition.severity,
                    .uuid = device.uuid,
                    .device = device.name,
                    .raised_ns = now_ns_,
                    .cleared_ns = {},
                    .value = condition.value,
                    .limit = condition.limit,
                    .message = condition.message,
                    .cause = condition.cause};
  tracker.calm_since_ns.reset();
  changes_.push_back(*tracker.active);
}

void AlertWatch::clear(Tracker& tracker) {
  tracker.active->cleared_ns = now_ns_;
  tracker.cleared_ns = now_ns_;
  tracker.last_severity = tracker.active->severity;
  tracker.reached_ns.reset();
  changes_.push_back(*std::exchange(tracker.active, {}));
}

void AlertWatch::judge(const GpuDevice& device, AlertKind kind, std::int64_t which,
                       const Condition& condition) {
  if (!condition.is_known) return;
  const Key key{device.uuid, kind, which};
  if (!condition.severity && !trackers_.contains(key)) return;
  Tracker& tracker = trackers_[key];
  const AlertPace pace = pace_of(kind);
  if (tracker.active) {
    const AlertSeverity severity = tracker.active->severity;
    const bool is_worse = condition.severity && *condition.severity > severity;
    const bool is_milder = condition.severity && *condition.severity < severity;
    if (is_worse || (is_milder && condition.is_below_critical)) {
      clear(tracker);
      raise(tracker, device, kind, condition);
    } else if (!condition.is_calm) {
      tracker.calm_since_ns.reset();
    } else {
      if (!tracker.calm_since_ns) tracker.calm_since_ns = now_ns_;
      if (since(*tracker.calm_since_ns, now_ns_) >= pace.calm_ns) clear(tracker);
    }
    return;
  }
  if (!condition.severity) {
    tracker.reached_ns.reset();
    return;
  }
  if (!tracker.reached_ns) tracker.reached_ns = now_ns_;
  const bool is_cool = !tracker.cleared_ns ||
                       since(*tracker.cleared_ns, now_ns_) >= pace.cool_down_ns ||
                       *condition.severity > tracker.last_severity;
  if (is_cool && since(*tracker.reached_ns, now_ns_) >= pace.hold_ns) {
    raise(tracker, device, kind, condition);
  }
}

void AlertWatch::clear_those_of_devices_that_went(const std::vector<GpuDevice>& devices) {
  for (auto at = trackers_.begin(); at != trackers_.end();) {
    if (std::ranges::find(devices, std::get<0>(at->first), &GpuDevice::uuid) != devices.end()) {
      ++at;
      continue;
    }
    if (at->second.active) clear(at->second);
    at = trackers_.erase(at);
  }
}

// A device that sleeps, is lost or refuses has no value; that is calm, too.
AlertWatch::Condition AlertWatch::level(std::optional<double> value, double warning,
                                        std::optional<double> critical, double margin) const {
  Condition condition;
  condition.is_known = value.has_value();
  if (!value) return condition;
  condition.value = value;
  condition.is_calm = *value < warning - margin;
  condition.is_below_critical = !critical || *value < *critical - margin;
  if (critical && *value >= *critical) {
    condition.severity = AlertSeverity::critical;
    condition.limit = critical;
  } else if (*value >= warning) {
    condition.severity = AlertSeverity::warning;
    condition.limit = warning;
  }
  return condition;
}

void AlertWatch::judge_temperature(const GpuDevice& device) {
  if (!config_.enable_thermal_monitoring) return;
  Condition condition = level(device.now.temperature_celsius, config_.temperature_warning_celsius,
                              config_.temperature_critical_celsius, kTemperatureMargin);
  if (device.state != DeviceState::ok) condition.is_known = true;
  if (condition.severity) {
    condition.message =
        fmt::format("{:.0f} °C, at or above the {} limit of {:g} °C", *condition.value,
                    name_of(*condition.severity), *condition.limit);
    condition.cause = cause_of_heat(device);
  }
  judge(device, AlertKind::thermal, 0, condition);
}

void AlertWatch::judge_memory(const GpuDevice& device) {
  if (!config_.enable_memory_tracking) return;
  std::optional<double> percent;
  if (device.now.memory_used_bytes && device.memory_total_bytes.value_or(0) > 0) {
    percent = 100.0 * static_cast<double>(*device.now.memory_used_bytes) /
              static_cast<double>(*device.memory_total_bytes);
  }
  Condition condition = level(percent, config_.memory_warning_percent,
                              config_.memory_critical_percent, kPercentMargin);
  if (device.state != DeviceState::ok) condition.is_known = true;
  if (condition.severity) {
    condition.message =
        fmt::format("{} of {} memory in use ({:.0f} %), at or above the {} limit of {:g} %",
                    base::format_bytes(static_cast<double>(*device.now.memory_used_bytes)),
                    base::format_bytes(static_cast<double>(*device.memory_total_bytes)), *percent,
                    name_of(*condition.severity), *condition.limit);
    condition.cause = largest_program(device);
  }
  judge(device, AlertKind::memory, 0, condition);
}

void AlertWatch::judge_utilization(const GpuDevice& device) {
  Condition condition = level(device.now.utilization_percent, config_.utilization_warning_percent,
                              {}, kPercentMargin);
  if (device.state != DeviceState::ok) condition.is_known = true;
  if (condition.severity) {
    condition.message =
        fmt::format("{:.0f} % utilised, at or above the limit of {:g} % for {} s", *condition.value,
                    *condition.limit, pace_of(AlertKind::utilization).hold_ns / kSecondNs);
    condition.cause = busiest_program(device);
  }
  judge(device, AlertKind::utilization, 0, condition);
}

void AlertWatch::judge_lost(const GpuDevice& device) {
  Condition condition;
  condition.is_known = true;
  if (device.state == DeviceState::lost) {
    condition.is_calm = false;
    condition.severity = AlertSeverity::critical;
    condition.message = "does not answer any more";
    condition.cause = "It fell off the bus, was removed, or its driver was unloaded: look at dmesg";
  } else if (device.needs_reset) {
    condition.is_calm = false;
    condition.severity = AlertSeverity::critical;
    condition.message = "works again only after a reset";
    condition.cause =
        "Its driver stopped it after an error: end the programs on it and reset it "
        "(nvidia-smi --gpu-reset), or restart the machine";
  }
  judge(device, AlertKind::device_lost, 0, condition);
}

void AlertWatch::judge_throttling(const GpuDevice& device) {
  Condition condition;
  condition.is_known = device.now.throttle.has_value() || device.state != DeviceState::ok;
  const std::uint32_t reasons = device.now.throttle.value_or(0) & kAlarmingReasons;
  if (reasons != 0) {
    condition.is_calm = false;
    const bool is_hardware =
        (reasons & ~static_cast<std::uint32_t>(ThrottleReason::software_thermal)) != 0;
    condition.severity = is_hardware ? AlertSeverity::critical : AlertSeverity::warning;
    condition.message = "slows itself down: " + alarming_reasons(reasons);
    if (device.now.core_clock_hz && device.max_core_clock_hz) {
      condition.value = *device.now.core_clock_hz / 1e6;
      condition.limit = *device.max_core_clock_hz / 1e6;
      condition.message +=
          fmt::format(". It runs at {:.0f} of {:.0f} MHz", *condition.value, *condition.limit);
    }
    condition.cause = (reasons & static_cast<std::uint32_t>(ThrottleReason::power_brake)) != 0
                          ? "The power supply asked it to: look at the supply and its cables"
                          : cause_of_heat(device);
  }
  judge(device, AlertKind::throttling, 0, condition);
}

// By how much the counters of the driver went up. They begin at 0 when it is loaded anew.
void AlertWatch::judge_ecc(const GpuDevice& device) {
  const GpuReading& now = device.now;
  if (!now.ecc_uncorrected && !now.ecc_corrected) return;
  const auto [at, is_new] = ecc_.try_emplace(
      device.uuid,
      EccCounts{now.ecc_uncorrected.value_or(0), now.ecc_corrected.value_or(0), now_ns_});
  EccCounts& counts = at->second;
  Condition condition;
  condition.is_known = true;
  const std::uint64_t uncorrected = now.ecc_uncorrected.value_or(counts.uncorrected);
  const std::uint64_t corrected = now.ecc_corrected.value_or(counts.corrected);
  if (uncorrected > counts.uncorrected) {
    condition.severity = AlertSeverity::critical;
    condition.value = static_cast<double>(uncorrected - counts.uncorrected);
    condition.message = base::format_plural(uncorrected - counts.uncorrected,
                                            "memory error that could not be corrected",
                                            "memory errors that could not be corrected");
    condition.cause =
        "A memory cell is failing. Results of programs that ran may be wrong; reset "
        "the GPU, and replace it if it happens again";
  } else if (corrected > counts.corrected + kCorrectedPerHour) {
    condition.severity = AlertSeverity::warning;
    condition.value = static_cast<double>(corrected - counts.corrected);
    condition.limit = static_cast<double>(kCorrectedPerHour);
    condition.message =
        fmt::format("{} corrected memory errors within an hour, more than {}",
                    base::format_count(corrected - counts.corrected), kCorrectedPerHour);
    condition.cause = "Memory cells are wearing out or too hot";
  }
  condition.is_calm = !condition.severity;
  counts.uncorrected = uncorrected;
  if (corrected < counts.corrected || since(counts.hour_began_ns, now_ns_) >= kHourNs) {
    counts.corrected = corrected;
    counts.hour_began_ns = now_ns_;
  }
  judge(device, AlertKind::ecc, 0, condition);
}

// Each number by itself: the same again keeps its alert up.
void AlertWatch::judge_errors(const GpuDevice& device, const std::vector<DeviceError>& errors) {
  std::map<std::int64_t, Condition> by_xid;
  for (const auto& [key, tracker] : trackers_) {
    const auto& [uuid, kind, xid] = key;
    if (uuid == device.uuid && kind == AlertKind::xid) by_xid[xid].is_known = true;
  }
  for (const DeviceError& error : errors) {
    if (error.uuid != device.uuid) continue;
    Condition& condition = by_xid[static_cast<std::int64_t>(error.xid)];
    condition.is_known = true;
    condition.is_calm = false;
    condition.severity = AlertSeverity::critical;
    condition.value = static_cast<double>(error.xid);
    condition.message = fmt::format("the driver reported error XID {}", error.xid);
    condition.cause = cause_of_xid(error.xid);
  }
  for (const auto& [xid, condition] : by_xid) judge(device, AlertKind::xid, xid, condition);
}

void AlertWatch::judge_leaks(const GpuDevice& device, const std::vector<Leak>& leaks) {
  std::map<std::int64_t, Condition> by_pid;
  for (const auto& [key, tracker] : trackers_) {
    const auto& [uuid, kind, pid] = key;
    if (uuid == device.uuid && kind == AlertKind::leak) by_pid[pid].is_known = true;
  }
  for (const Leak& leak : leaks) {
    if (leak.uuid != device.uuid) continue;
    Condition& condition = by_pid[leak.process.pid];
    condition.is_known = true;
    condition.is_calm = false;
    condition.severity = AlertSeverity::warning;
    condition.value = leak.bytes_per_minute;
    condition.message =
        fmt::format("memory of {} (pid {}) grows by {} per minute", leak.process.name,
                    leak.process.pid, base::format_bytes(leak.bytes_per_minute));
    condition.cause = fmt::format(
        "It took {} more within {:.0f} s and gave none back ({}–{} per minute with 99 % "
        "confidence): "
        "it may keep what it no longer needs. To see what: fathom memory",
        base::format_bytes(static_cast<double>(leak.grown_bytes)), leak.window_seconds,
        base::format_bytes(leak.least_bytes_per_minute),
        base::format_bytes(leak.most_bytes_per_minute));
  }
  for (const auto& [pid, condition] : by_pid) judge(device, AlertKind::leak, pid, condition);
}

}  // namespace fathom::monitor
