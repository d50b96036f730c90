#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "devices/device_json.h"
#include "monitor/alert_words.h"

namespace fathom::serve {
namespace {

constexpr double kBytesPerMb = 1024.0 * 1024.0;

std::string escaped_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// One family after another: what it is, then its series. A family without series is not written.
class Families {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  void add(std::string_view labels, double value) { add_to(name_, labels, value); }
  void add(std::string_view labels, const std::optional<double>& value) {
    if (value) add(labels, *value);
  }
  void add_to(std::string_view name, std::string_view labels, double value) {
    text_ += head_;
    head_.clear();
    text_ += name;
    if (!labels.empty()) {
      text_ += '{';
      text_ += labels;
      text_ += '}';
    }
    fmt::format_to(std::back_inserter(text_), " {}\n", value);
  }

  void one(std::string_view name, std::string_view type, std::string_view help,
           const std::optional<double>& value) {
    begin(name, type, help);
    add("", value);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
  std::string head_;
};

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{}=\"{}\"", name, escaped_label(value));
}

std::optional<double> over_100(const std::optional<double>& percent) {
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

template <typename Number>
std::optional<double> as_double(const std::optional<Number>& number) {
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

class Devices {
 public:
  Devices(const Snapshot& snapshot, double most_age_seconds, Families& out) : out_(out) {
    for (const GpuDevice& device : snapshot.devices) {
      all_.push_back(&device);
      labels_.push_back(label("uuid", device.uuid));
      const bool is_fresh =
          device.state == DeviceState::ok && device.age_seconds.value_or(0) <= most_age_seconds;
      fresh_.push_back(is_fresh);
    }
  }

  // A series per device; a label of its own where there are several of a family.
  template <typename Get>
  void each(Get get, std::string_view more = {}) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (fresh_[i]) out_.add(labels(i, more), std::optional<double>(get(*all_[i])));
    }
  }

  // Those that hold whether or not the device answers.
  template <typename Get>
  void each_known(Get get, std::string_view more = {}) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      out_.add(labels(i, more), std::optional<double>(get(*all_[i])));
  }

  void infos() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const GpuDevice& device = *all_[i];
      out_.add(fmt::format("{},{},{},{},{},{}", labels_[i], label("vendor", device.vendor),
                           label("name", device.name), label("pci", device.pci_address),
                           label("driver", device.driver), label("backend", device.backend)),
               1.0);
    }
  }

  template <typename Get>
  std::optional<double> sum(Get get) const {
    std::optional<double> sum;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::optional<double> value = fresh_[i] ? get(*all_[i]) : std::nullopt;
      if (value) sum = sum.value_or(0) + *value;
    }
    return sum;
  }

  template <typename Get>
  std::optional<double> count(Get get) const {
    return sum(
        [&](const GpuDevice& device) { return get(device) ? std::optional(1.0) : std::nullopt; });
  }

  template <typename Get>
  std::optional<double> most(Get get) const {
    std::optional<double> most;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::optional<double> value = fresh_[i] ? get(*all_[i]) : std::nullopt;
      if (value) most = std::max(most.value_or(*value), *value);
    }
    return most;
  }

  std::size_t there() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [](const GpuDevice* device) { return device->state != DeviceState::lost; }));
  }

 private:
  std::string labels(std::size_t i, std::string_view more) const {
    return more.empty() ? labels_[i] : fmt::format("{},{}", labels_[i], more);
  }

  Families& out_;
  std::vector<const GpuDevice*> all_;
  std::vector<std::string> labels_;
  std::vector<bool> fresh_;
};

std::optional<double> used_of(const GpuDevice& device) {
  return as_double(device.now.memory_used_bytes);
}
std::optional<double> total_of(const GpuDevice& device) {
  return as_double(device.memory_total_bytes);
}
std::optional<double> utilization_of(const GpuDevice& device) {
  return device.now.utilization_percent;
}
std::optional<double> temperature_of(const GpuDevice& device) {
  return device.now.temperature_celsius;
}

void write_inference(std::string_view name, std::string_view unit, double per_ms,
                     const InferenceFigures& inference, Families& out) {
  out.begin(name, "histogram",
            fmt::format("Time per request, as programs reported it, in {}.", unit));
  const std::string bucket = fmt::format("{}_bucket", name);
  for (const auto& [bound_ms, count] : inference.buckets) {
    if (bound_ms == std::numeric_limits<double>::infinity()) continue;
    // Six digits are more than a bound has: 0.1 ms is 0.0001 s, not 0.00010000000000000002.
    out.add_to(bucket, fmt::format("le=\"{:.6g}\"", bound_ms * per_ms), static_cast<double>(count));
  }
  const auto requests = static_cast<double>(inference.count);
  out.add_to(bucket, "le=\"+Inf\"", requests);
  out.add_to(fmt::format("{}_sum", name), "", inference.sum_ms * per_ms);
  out.add_to(fmt::format("{}_count", name), "", requests);
}

void write_older_names(const MetricsInput& input, const Devices& devices, Families& out) {
  const auto mb = [](std::optional<double> bytes) {
    return bytes ? std::optional(*bytes / kBytesPerMb) : std::nullopt;
  };
  out.one("gpu_device_count", "gauge", "GPUs that are there.",
          static_cast<double>(devices.there()));
  out.one("gpu_total_memory_mb", "gauge", "Memory of all GPUs, in units of 1048576 bytes.",
          mb(devices.sum(total_of)));
  out.one("gpu_total_memory_used_mb", "gauge",
          "Memory in use on all GPUs, in units of 1048576 bytes.", mb(devices.sum(used_of)));
  const auto sum = devices.sum(utilization_of);
  out.one("gpu_average_utilization_percent", "gauge",
          "Mean over the GPUs of the share of time in which a kernel ran.",
          sum ? std::optional(*sum / *devices.count(utilization_of)) : std::nullopt);
  out.one("gpu_max_temperature_celsius", "gauge", "Temperature of the hottest GPU.",
          devices.most(temperature_of));

  write_inference("gpu_inference_time_ms", "milliseconds", 1, input.inference, out);

  out.one("gpu_thermal_alerts_total", "counter", "Alerts of temperature that were raised.",
          static_cast<double>(input.alerts[static_cast<std::size_t>(AlertKind::thermal)]));
  out.one("gpu_profiling_sessions_total", "counter", "Sessions that were started.",
          static_cast<double>(input.sessions));
}

void write_devices(Devices& devices, Families& out) {
  using Device = const GpuDevice&;
  out.begin("fathom_gpu_info", "gauge", "What the device is; always 1.");
  devices.infos();
  out.begin("fathom_gpu_status", "gauge", "1 for the state that the device is in.");
  for (const DeviceState state :
       {DeviceState::ok, DeviceState::suspended, DeviceState::lost, DeviceState::no_permission}) {
    devices.each_known([&](Device d) { return d.state == state ? 1.0 : 0.0; },
                       label("state", devices::name_of(state)));
  }
  out.begin("fathom_gpu_utilization_ratio", "gauge", "Share of time in which a unit was at work.");
  devices.each([](Device d) { return over_100(d.now.utilization_percent); },
               label("task", "compute"));
  devices.each([](Device d) { return over_100(d.now.memory_utilization_percent); },
               label("task", "memory"));
  devices.each([](Device d) { return over_100(d.now.encoder_percent); }, label("task", "encoder"));
  devices.each([](Device d) { return over_100(d.now.decoder_percent); }, label("task", "decoder"));
  out.begin("fathom_gpu_memory_used_bytes", "gauge", "Memory that programs use.");
  devices.each(used_of);
  out.begin("fathom_gpu_memory_total_bytes", "gauge", "Memory that the device has.");
  devices.each_known(total_of);
  out.begin("fathom_gpu_memory_reserved_bytes", "gauge", "Memory that the driver keeps to itself.");
  devices.each([](Device d) { return as_double(d.now.memory_reserved_bytes); });
  out.begin("fathom_gpu_temperature_celsius", "gauge", "Temperature.");
  devices.each(temperature_of, label("sensor", "gpu"));
  devices.each([](Device d) { return d.now.memory_temperature_celsius; },
               label("sensor", "memory"));
  out.begin("fathom_gpu_temperature_limit_celsius", "gauge",
            "Where the device slows down, or shuts itself off.");
  devices.each_known([](Device d) { return d.slowdown_celsius; }, label("kind", "slowdown"));
  devices.each_known([](Device d) { return d.shutdown_celsius; }, label("kind", "shutdown"));
  out.begin("fathom_gpu_power_watts", "gauge", "Power that the device takes.");
  devices.each([](Device d) { return d.now.power_watts; });
  out.begin("fathom_gpu_power_limit_watts", "gauge", "Power that the device may take.");
  devices.each_known([](Device d) { return d.power_limit_watts; });
  out.begin("fathom_gpu_energy_joules_total", "counter", "Energy since the driver was loaded.");
  devices.each([](Device d) { return d.now.energy_joules; });
  out.begin("fathom_gpu_clock_hertz", "gauge", "Clock.");
  devices.each([](Device d) { return d.now.core_clock_hz; }, label("domain", "core"));
  devices.each([](Device d) { return d.now.memory_clock_hz; }, label("domain", "memory"));
  out.begin("fathom_gpu_fan_ratio", "gauge", "Speed of the fan as a share of its fastest.");
  devices.each([](Device d) { return over_100(d.now.fan_percent); });
  out.begin("fathom_gpu_throttle_active", "gauge", "1 while clocks are lowered for this reason.");
  for (unsigned bit = 0; bit < 9; ++bit) {
    const auto reason = static_cast<ThrottleReason>(1u << bit);
    devices.each(
        [&](Device d) -> std::optional<double> {
          if (!d.now.throttle) return {};
          return (*d.now.throttle & (1u << bit)) != 0 ? 1.0 : 0.0;
        },
        label("reason", devices::name_of(reason)));
  }
  out.begin("fathom_gpu_errors_total", "counter", "Memory errors that the device counted.");
  devices.each([](Device d) { return as_double(d.now.ecc_corrected); },
               label("type", "ecc_corrected"));
  devices.each([](Device d) { return as_double(d.now.ecc_uncorrected); },
               label("type", "ecc_uncorrected"));
}

void write_self(const MetricsInput& input, Families& out) {
  write_inference("fathom_inference_duration_seconds", "seconds", 1e-3, input.inference, out);
  out.one("fathom_sessions_total", "counter", "Sessions that were started.",
          static_cast<double>(input.sessions));
  out.begin("fathom_gpu_xid_errors_total", "counter",
            "Errors that the driver reported; one that recurs within a minute counts once.");
  for (const auto& [which, count] : input.xid_errors) {
    out.add(fmt::format("{},xid=\"{}\"", label("uuid", which.first), which.second),
            static_cast<double>(count));
  }
  out.begin("fathom_alerts_total", "counter", "Alerts that were raised.");
  for (std::size_t kind = 0; kind < kAlertKinds; ++kind) {
    out.add(label("kind", monitor::name_of(static_cast<AlertKind>(kind))),
            static_cast<double>(input.alerts[kind]));
  }
  out.one("fathom_collect_success", "gauge", "1 while every source of figures answers.",
          input.health.is_healthy ? 1.0 : 0.0);
  out.begin("fathom_backend_up", "gauge", "1 while this source of figures answers.");
  for (const BackendHealth& backend : input.health.backends)
    out.add(label("backend", backend.name), backend.is_up ? 1.0 : 0.0);
  out.begin("fathom_collect_duration_seconds", "gauge", "How long the last look took.");
  for (const BackendHealth& backend : input.health.backends)
    out.add(label("backend", backend.name), backend.look_seconds);
  out.one("fathom_collect_last_success_timestamp_seconds", "gauge",
          "When the last sample was taken.",
          input.snapshot ? std::optional(static_cast<double>(input.snapshot->time_ns) / 1e9)
                         : std::nullopt);
  out.one("fathom_http_requests_total", "counter", "Requests.",
          static_cast<double>(input.http.requests));
  out.one("fathom_http_requests_denied_total", "counter", "Requests that were refused.",
          static_cast<double>(input.denied));
  out.one("fathom_http_requests_malformed_total", "counter", "What came and was no request.",
          static_cast<double>(input.http.malformed));
  out.one("fathom_http_connections", "gauge", "Connections that are open.",
          static_cast<double>(input.http.connections));
  out.one("fathom_http_connections_refused_total", "counter", "Connections over a limit.",
          static_cast<double>(input.http.connections_refused));
  out.one("fathom_http_streams", "gauge", "Streams of events that are open.",
          static_cast<double>(input.http.streams));
  out.one("fathom_audit_lines_total", "counter", "Number of the last line of the audit log.",
          static_cast<double>(input.audit_lines));
  out.one("fathom_audit_failing", "gauge", "1 while the audit log cannot be written.",
          input.audit_is_failing ? 1.0 : 0.0);
}

}  // namespace

std::string metrics_text(const MetricsInput& input, MetricNames names) {
  Families out;
  const Snapshot nothing;
  Devices devices(input.snapshot ? *input.snapshot : nothing, input.most_age_seconds, out);
  if (names == MetricNames::all) write_older_names(input, devices, out);
  write_devices(devices, out);
  write_self(input, out);
  return out.take();
}

}  // namespace fathom::serve
