#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/benchmark_verdict.h"
#include "devices/watcher.h"

namespace fathom::cli {

struct DevicesReport {
  devices::Devices found;
  bool is_demo = false;
  std::optional<std::vector<JudgedBenchmark>> benchmarks = {};  // where they were asked for
};

std::string to_text(const DevicesReport& report, std::size_t width);
// docs/devices.schema.json describes it.
std::string to_json(const DevicesReport& report);

}  // namespace fathom::cli
