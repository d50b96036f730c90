#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/format.h"

namespace fathom::report {
namespace {

constexpr std::size_t kCommandColumns = 70;

using analyze::Operation;
using trace::SpanKind;

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::uint64_t step_count(const RunReport& report) {
  for (const Operation& operation : report.operations) {
    const bool is_step =
        operation.kind == SpanKind::annotation && operation.name == "ProfilerStep#";
    if (is_step) return operation.durations.count();
  }
  return 0;
}

// Makers count memory in powers of two: 34,089,730,048 bytes are sold as 32 GB. Many names say it.
std::string device_name(const trace::DeviceInfo& device) {
  const bool says_size = device.name.find("GB") != std::string::npos;
  if (says_size || !device.memory_bytes) return device.name;
  return fmt::format("{} {:.0f} GB", device.name,
                     static_cast<double>(*device.memory_bytes) / (1U << 30));
}

// The GPUs that did work; a host lists others too. Some sources number the two differently.
std::string device_text(const RunReport& report, const trace::Trace& trace) {
  const std::vector<trace::DeviceInfo>& devices = trace.run.devices;
  if (devices.empty() || report.activity.gpus.empty()) return {};
  const auto known = std::find_if(
      devices.begin(), devices.end(),
      [&](const trace::DeviceInfo& device) { return device.id == report.activity.gpus.front(); });
  const std::string name = device_name(known == devices.end() ? devices.front() : *known);
  if (name.empty()) return {};
  return report.activity.gpus.size() == 1
             ? name
             : fmt::format("{} × {}", report.activity.gpus.size(), name);
}

}  // namespace

std::string headline(const RunReport& report, const trace::Trace& trace) {
  std::vector<std::string> parts;
  parts.push_back(trace.run.command.empty()
                      ? std::filesystem::path(report.source).filename().string()
                      : base::fit(trace.run.command, kCommandColumns));
  if (const std::string device = device_text(report, trace); !device.empty())
    parts.push_back(device);
  if (trace.run.rank) {
    parts.push_back(trace.run.world_size
                        ? fmt::format("rank {} of {}", *trace.run.rank, *trace.run.world_size)
                        : fmt::format("rank {}", *trace.run.rank));
  }
  if (const std::uint64_t steps = step_count(report)) {
    parts.push_back(base::format_plural(steps, "step", "steps"));
  }
  parts.push_back(base::format_duration(report.session.total_time_ms * 1e6));
  return "  " + join(parts, " · ") + "\n";
}

}  // namespace fathom::report
