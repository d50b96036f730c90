#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyze/run/session.h"
#include "report/recommendations.h"

namespace fathom::report {
namespace {

// Makers count memory in powers of two: 34,089,730,048 bytes are sold as 32 GB. Many names say it.
std::string device_name(const trace::DeviceInfo& device) {
  const bool says_size = device.name.find("GB") != std::string::npos;
  if (says_size || !device.memory_bytes) return device.name;
  return fmt::format("{} {:.0f} GB", device.name.empty() ? "GPU" : device.name,
                     static_cast<double>(*device.memory_bytes) / (1U << 30));
}

}  // namespace

RunReport make_report(const explain::Analysis& analysis) {
  RunReport report = {.source = analysis.source(),
                      .activity = analysis.activity(),
                      .operations = analysis.operations(),
                      .bottlenecks = analysis.bottlenecks(),
                      .scope_shares = analysis.scope_shares(),
                      .steps = analysis.steps(),
                      .classes = analysis.classes(),
                      .shares = analysis.run_shares(),
                      .efficiency = analysis.efficiency(),
                      .by_gpu = analysis.efficiencies(),
                      .suggestions = analysis.suggestions(),
                      .session = analysis.session()};
  if (analyze::is_fathom_run(analysis.trace())) {
    report.session.recommendations = recommendations(std::span(&report.suggestions, 1));
  }
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
