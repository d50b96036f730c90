#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fathom/monitor.h"
#include "serve/http_server.h"

namespace fathom::serve {

constexpr std::size_t kAlertKinds = 8;

struct MetricsInput {
  std::optional<Snapshot> snapshot;
  Health health;
  InferenceFigures inference;
  std::array<std::uint64_t, kAlertKinds> alerts{};  // so far, by AlertKind
  // Alerts of errors that the driver reported, so far, by UUID and XID.
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> xid_errors;
  std::uint64_t sessions = 0;  // so far
  HttpFigures http;
  std::uint64_t denied = 0;  // requests, so far
  std::uint64_t audit_lines = 0;
  bool audit_is_failing = false;
  // Readings that are older are left out: a figure that stands still looks like a healthy one.
  double most_age_seconds = 10;
};

// The older names (gpu_…) are a contract with dashboards, and not all of them are in base units,
// which Prometheus's own checker objects to. All that they say is said in base units, too
// (fathom_…).
enum class MetricNames { all, base_units };

// The text format of Prometheus, 0.0.4. docs/server.md lists the series; their names do not change.
std::string metrics_text(const MetricsInput& input, MetricNames names);

}  // namespace fathom::serve
