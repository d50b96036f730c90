#include "monitor/session_record.h"

#include <algorithm>
#include <utility>

#include "monitor/reading_fields.h"

namespace fathom::monitor {
namespace {

constexpr std::size_t kMostAlertsOfSession = 1000;

}  // namespace

void Range::add(double value) {
  least = count == 0 ? value : std::min(least, value);
  most = count == 0 ? value : std::max(most, value);
  sum += value;
  ++count;
}

const Range* DeviceFigures::range(std::string_view metric) const {
  const std::size_t place = reading_field(metric);
  return place < ranges.size() && ranges[place].count > 0 ? &ranges[place] : nullptr;
}

SessionRecord::SessionRecord(MonitorSession session)
    : session_(std::move(session)),
      history_(session_.config.max_snapshots, History::WhenFull::thin_out),
      last_time_ns_(session_.started_ns) {}

void SessionRecord::take(const Snapshot& snapshot) {
  ++session_.snapshots;
  last_time_ns_ = std::max(last_time_ns_, snapshot.time_ns);
  history_.add(snapshot);
  const auto fields = reading_fields();
  for (const GpuDevice& device : snapshot.devices) {
    DeviceFigures& figures = devices_[device.uuid];
    figures.ranges.resize(fields.size());
    figures.identity = device;
    figures.identity.now = {};
    figures.identity.processes.clear();
    if (device.state != DeviceState::ok) continue;
    const GpuReading& now = device.now;
    bool has_answered = false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = fields[i].get(now);
      if (!value) continue;
      figures.ranges[i].add(*value);
      has_answered = true;
    }
    if (has_answered) ++figures.looks;
    if (now.temperature_celsius >= session_.config.temperature_warning_celsius) ++figures.hot_looks;
    if (now.memory_used_bytes && device.memory_total_bytes.value_or(0) > 0) {
      const double percent = 100.0 * static_cast<double>(*now.memory_used_bytes) /
                             static_cast<double>(*device.memory_total_bytes);
      figures.memory_percent.add(percent);
      if (percent >= session_.config.memory_warning_percent) ++figures.full_looks;
    }
    for (std::size_t bit = 0; bit < figures.throttled_looks.size(); ++bit) {
      if ((now.throttle.value_or(0) >> bit & 1) != 0) ++figures.throttled_looks[bit];
    }
  }
}

void SessionRecord::take(const Alert& alert) {
  const auto known = std::ranges::find(alerts_, alert.id, &Alert::id);
  if (known != alerts_.end()) {
    *known = alert;
    return;
  }
  // Raised before the session began: not its own, unless it is cleared within it.
  if (alert.cleared_ns && alert.raised_ns < session_.started_ns) return;
  ++session_.alerts;
  if (alerts_.size() == kMostAlertsOfSession) alerts_.erase(alerts_.begin());
  alerts_.push_back(alert);
}

void SessionRecord::take(const InferenceStats::Part& inference) {
  inference_.add(inference);
}

MonitorSession SessionRecord::session() const {
  MonitorSession session = session_;
  session.inference = inference_.figures();
  return session;
}

SessionReport SessionRecord::report() const {
  SessionReport report;
  report.session = session();
  report.snapshots = history_.last(0);
  report.alerts = alerts_;
  const auto fields = reading_fields();
  const std::size_t throttle = reading_field("throttle");
  for (const auto& [uuid, figures] : devices_) {
    auto& metrics = report.metrics[uuid];
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Range& range = figures.ranges[i];
      if (range.count == 0 || i == throttle) continue;  // bits have no mean
      metrics[std::string(fields[i].name)] = {range.least, range.mean(), range.most};
    }
  }
  report.suggestions = session_suggestions(*this);
  return report;
}

}  // namespace fathom::monitor
