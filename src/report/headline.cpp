#include "report/headline.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/format.h"
#include "base/printable.h"

namespace fathom::report {
namespace {

constexpr std::size_t kCommandColumns = 70;

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
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
  if (!report.steps.empty()) {
    parts.push_back(base::format_plural(report.steps.size(), "step", "steps"));
  }
  if (report.session.total_ns > 0) {  // a summary has none
    parts.push_back(base::format_duration(static_cast<double>(report.session.total_ns)));
  }
  return "  " + base::printable(join(parts, " · ")) + "\n";
}

}  // namespace fathom::report
