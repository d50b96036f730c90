#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/benchmark.h"

// What a measurement says of the health of a device.
namespace fathom::cli {

struct BenchmarkRow {
  std::string key;   // in JSON
  std::string what;  // for people
  devices::Measured measured;
  enum class Unit { bytes_per_second, flops, seconds } unit = Unit::seconds;
  std::optional<double> peak;           // in the same unit
  std::optional<double> usual_percent;  // of the peak, at least, for a healthy device
  std::optional<double> percent_of_peak() const;
};

struct JudgedBenchmark {
  devices::Benchmark benchmark;
  std::vector<BenchmarkRow> rows;     // those that were measured
  std::uint32_t throttle = 0;         // ThrottleReason bits seen meanwhile
  bool is_healthy = true;             // as far as can be told
  std::vector<std::string> findings;  // one sentence each, what is wrong first
};

// `memory_bytes` of the device helps to tell its peaks.
JudgedBenchmark judge(devices::Benchmark benchmark, std::optional<std::int64_t> memory_bytes,
                      std::uint32_t throttle);

}  // namespace fathom::cli
