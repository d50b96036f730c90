#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "advise/suggest.h"
#include "analyze/run/session.h"
#include "report/recommendations.h"
#include "report/text/session_text.h"

namespace fathom::report {
namespace {

constexpr std::size_t kBottlenecks = 5;

// Makers count memory in powers of two: 34,089,730,048 bytes are sold as 32 GB. Many names say it.
std::string device_name(const trace::DeviceInfo& device) {
  const bool says_size = device.name.find("GB") != std::string::npos;
  if (says_size || !device.memory_bytes) return device.name;
  return fmt::format("{} {:.0f} GB", device.name.empty() ? "GPU" : device.name,
                     static_cast<double>(*device.memory_bytes) / (1U << 30));
}

}  // namespace

RunReport make_report(const trace::Trace& trace, std::string source) {
  RunReport report;
  report.source = std::move(source);
  report.activity = analyze::activity(trace);
  report.operations = analyze::operations(trace);
  report.suggestions = advise::suggest(trace);
  if (is_fathom_run(trace)) {
    report.session = analyze::session(trace, report.operations, report.source);
    report.session.recommendations = recommendations(std::span(&report.suggestions, 1));
  } else {
    report.session.total_time_ms =
        static_cast<double>(report.activity.end_ns - report.activity.begin_ns) / 1e6;
  }
  report.bottlenecks = analyze::bottlenecks(report.operations, kBottlenecks);
  return report;
}

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

}  // namespace fathom::report
