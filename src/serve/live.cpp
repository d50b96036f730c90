#include "serve/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "devices/device_json.h"
#include "monitor/config_fields.h"
#include "monitor/monitor_json.h"
#include "monitor/redact.h"

namespace fathom::serve {
namespace {

void write_backend(base::JsonWriter& json, const BackendHealth& backend) {
  json.begin_object().key("name").value(backend.name).key("is_up").value(backend.is_up);
  json.key("problem").value(backend.problem);
  if (backend.age_seconds) json.key("age_seconds").value(*backend.age_seconds);
  json.key("look_seconds").value(backend.look_seconds).end_object();
}

std::chrono::duration<double> interval_of(const MonitorConfig& config) {
  return monitor::sampling_interval(config);
}

struct StatusInput {
  std::optional<Snapshot> snapshot;
  std::vector<Alert> alerts;
  Health health;
  MonitorConfig config;
};

std::string status_json(const StatusInput& input, devices::Commands commands) {
  std::string text;
  base::JsonWriter json(text);
  begin_answer(json, "Status").key("time_ns");
  input.snapshot ? json.value(input.snapshot->time_ns) : json.null();
  json.key("demo").value(input.config.demo);
  json.key("interval_seconds").value(interval_of(input.config).count());
  json.key("devices").begin_array();
  if (input.snapshot) {
    for (const GpuDevice& device : input.snapshot->devices)
      devices::write_device(json, device, commands);
  }
  json.end_array().key("alerts").begin_array();
  for (const Alert& alert : input.alerts) monitor::write_alert(json, alert);
  json.end_array().key("backends").begin_array();
  for (const BackendHealth& backend : input.health.backends) write_backend(json, backend);
  json.end_array().end_object();
  return text;
}

std::string alert_json(const Alert& alert) {
  std::string text;
  base::JsonWriter json(text);
  monitor::write_alert(json, alert);
  return text;
}

std::string device_json(std::string_view event, const GpuDevice& device) {
  std::string text;
  base::JsonWriter json(text);
  json.begin_object().key("event").value(event).key("uuid").value(device.uuid);
  json.key("name").value(device.name).end_object();
  return text;
}

}  // namespace

base::JsonWriter& begin_answer(base::JsonWriter& json, std::string_view name) {
  return json.begin_object()
      .key("schema")
      .value(fmt::format("https://fathom.invalid/openapi.yaml#/components/schemas/{}", name))
      .key("fathom")
      .value(FATHOM_VERSION);
}

Live::Live(Monitor& monitor, std::function<void(MetricsInput&)> complete,
           std::function<void(Audience, Bytes)> publish)
    : monitor_(monitor),
      complete_(std::move(complete)),
      publish_(std::move(publish)),
      longest_look_(monitor::stale_after_seconds(monitor::sampling_interval(monitor.config()))) {
  look();
  // The monitor calls from within: it is asked on a thread of ours.
  subscription_ = monitor_.subscribe([this](const Event&) {
    const std::lock_guard guard(lock_);
    is_woken_ = true;
    woken_.notify_one();
  });
  thread_ = std::thread([this] { run(); });
}

Live::~Live() {
  monitor_.unsubscribe(subscription_);
  {
    const std::lock_guard guard(lock_);
    is_stopping_ = true;
    woken_.notify_one();
  }
  thread_.join();
}

void Live::run() {
  // Also where no sample comes: figures grow old, and must be seen to.
  const std::chrono::duration<double> longest(
      std::clamp(2 * interval_of(monitor_.config()).count(), 0.2, 5.0));
  std::unique_lock guard(lock_);
  while (!is_stopping_) {
    woken_.wait_for(guard, longest, [this] { return is_woken_ || is_stopping_; });
    if (is_stopping_) return;
    is_woken_ = false;
    guard.unlock();
    look();
    guard.lock();
  }
}

void Live::look() {
  StatusInput now;
  std::vector<Snapshot> newest = monitor_.snapshots(1);
  if (!newest.empty()) now.snapshot = std::move(newest.back());
  now.alerts = monitor_.alerts();
  now.health = monitor_.health();
  now.config = monitor_.config();

  MetricsInput figures;
  figures.snapshot = now.snapshot;
  figures.health = now.health;
  figures.inference = monitor_.inference();
  figures.sessions = monitor_.sessions_total();
  for (std::size_t kind = 0; kind < kAlertKinds; ++kind)
    figures.alerts[kind] = monitor_.alerts_total(static_cast<AlertKind>(kind));
  figures.most_age_seconds = monitor::stale_after_seconds(monitor::sampling_interval(now.config));
  if (now.health.last_snapshot_age_seconds.value_or(0) > figures.most_age_seconds)
    figures.snapshot.reset();  // the sampler itself stands still
  for (const Alert& alert : now.alerts) {
    if (alert.kind == AlertKind::xid && alert.value && !told_alerts_.contains(alert.id))
      ++xid_errors_[{alert.uuid, static_cast<std::int64_t>(*alert.value)}];
  }
  figures.xid_errors = xid_errors_;
  complete_(figures);

  auto viewers = std::make_shared<const std::string>(status_json(now, devices::Commands::hidden));
  if (now.snapshot) {
    for (GpuDevice& device : now.snapshot->devices) {
      for (GpuProcess& process : device.processes)
        process.command = monitor::redacted(process.command);
    }
  }
  auto admins = std::make_shared<const std::string>(status_json(now, devices::Commands::shown));
  auto metrics = std::make_shared<const std::string>(metrics_text(figures, MetricNames::all));
  auto base_metrics =
      std::make_shared<const std::string>(metrics_text(figures, MetricNames::base_units));
  {
    const std::lock_guard guard(lock_);
    status_[static_cast<unsigned>(Audience::viewers)] = viewers;
    status_[static_cast<unsigned>(Audience::admins)] = admins;
    metrics_ = metrics;
    base_metrics_ = base_metrics;
    is_healthy_ = now.health.is_healthy;
    looked_at_ = std::chrono::steady_clock::now();
  }
  if (now.snapshot &&
      now.snapshot->time_ns != std::exchange(told_time_ns_, now.snapshot->time_ns)) {
    publish_(Audience::viewers, std::make_shared<std::string>(event("snapshot", *viewers)));
    publish_(Audience::admins, std::make_shared<std::string>(event("snapshot", *admins)));
  }
  if (now.snapshot) tell_changes(*now.snapshot);
  for (const Alert& alert : now.alerts) {
    const auto [told, is_new] = told_alerts_.try_emplace(alert.id, false);
    const bool is_over = alert.cleared_ns.has_value();
    if (has_looked_ && (is_new || told->second != is_over)) tell_all("alert", alert_json(alert));
    told->second = is_over;
  }
  constexpr std::size_t kMostTold = 1000;
  while (told_alerts_.size() > kMostTold) told_alerts_.erase(told_alerts_.begin());
  has_looked_ = true;
}

void Live::tell_changes(const Snapshot& now) {
  for (const GpuDevice& device : now.devices) {
    const bool is_lost = device.state == DeviceState::lost;
    const auto [told, is_new] = told_devices_.try_emplace(device.uuid, false);
    if (has_looked_ && is_new && !is_lost) tell_all("device", device_json("found", device));
    if (has_looked_ && told->second != is_lost)
      tell_all("device", device_json(is_lost ? "lost" : "found", device));
    told->second = is_lost;
  }
}

void Live::tell_all(std::string_view name, std::string_view json) {
  const auto bytes = std::make_shared<std::string>(event(name, json));
  publish_(Audience::viewers, bytes);
  publish_(Audience::admins, bytes);
}

Live::Bytes Live::status(Audience audience) const {
  const std::lock_guard guard(lock_);
  return status_[static_cast<unsigned>(audience)];
}

Live::Bytes Live::metrics(MetricNames names) const {
  const std::lock_guard guard(lock_);
  return names == MetricNames::all ? metrics_ : base_metrics_;
}

bool Live::is_healthy() const {
  const std::lock_guard guard(lock_);
  return is_healthy_ && std::chrono::steady_clock::now() - looked_at_ < longest_look_;
}

std::string Live::event(std::string_view name, std::string_view json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

}  // namespace fathom::serve
