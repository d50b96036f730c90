#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fathom/attribute.h"

namespace fathom {

// One scope. The four times, where known, add up to the duration. What was not measured is absent.
struct Entry {
  std::string operation;
  std::int64_t start_time = 0;  // Unix time in nanoseconds
  std::int64_t end_time = 0;
  double duration_ms = 0;
  std::string device = "cpu";
  std::string backend = "cpu";
  std::optional<double> gpu_time_ms;
  std::optional<double> cpu_time_ms;
  std::optional<double> transfer_time_ms;
  std::optional<double> overhead_ms;
  std::optional<double> memory_allocated_mb;
  std::optional<double> memory_peak_mb;
  std::optional<double> gpu_utilization;  // 0 to 1
  std::optional<double> memory_bandwidth_gb_s;
  std::vector<Attribute> attributes;
  std::int64_t thread = 0;            // as the system numbers it
  std::optional<std::size_t> parent;  // the entry of the scope around it
  bool failed = false;                // ended by an exception
};

// All scopes of one operation.
struct Summary {
  std::uint64_t call_count = 0;
  double total_time_ms = 0;
  double self_time_ms = 0;  // total less the scopes inside
  double avg_time_ms = 0;
  double min_time_ms = 0;
  double max_time_ms = 0;
  double std_dev_ms = 0;  // of the calls as a whole, not of a sample of them
  double p50_ms = 0;      // the quantiles are within 1 %
  double p95_ms = 0;
  double p99_ms = 0;
  std::uint64_t error_count = 0;  // ended by an exception
  std::optional<double> total_gpu_time_ms;
  std::optional<double> total_cpu_time_ms;
  std::optional<double> total_transfer_time_ms;
  std::optional<double> total_overhead_ms;
  std::optional<double> avg_memory_mb;
  std::optional<double> peak_memory_mb;
  std::optional<double> avg_gpu_utilization;
};

using Summaries = std::map<std::string, Summary>;

struct Bottleneck {
  std::string operation;
  std::uint64_t call_count = 0;
  double self_time_ms = 0;
  double share = 0;             // of all self time, 0 to 1
  double cumulative_share = 0;  // with those above it
  std::string dominated_by;     // "gpu", "transfer", "overhead" or "cpu"; empty where unknown
};

// What could not be kept: memory is bounded. Statistics are exact all the same.
struct Drops {
  std::uint64_t entries = 0;          // scopes measured, not in entries()
  std::uint64_t recorded_scopes = 0;  // scopes measured, not in the run file
  std::uint64_t activities = 0;       // GPU activities and memory records
  std::uint64_t lost_scopes = 0;      // not measured at all: no memory for their statistics
};

}  // namespace fathom
