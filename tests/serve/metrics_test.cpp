#include "serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/run_program.h"
#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

struct Series {
  std::string name, labels;
  double value = 0;
};

struct Parsed {
  std::map<std::string, std::string> types;  // of families
  std::vector<Series> series;
  std::vector<std::string> faults;

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const Series& one : series) names.insert(one.name);
    return names;
  }
  double value(const std::string& name, const std::string& label = {}) const {
    for (const Series& one : series) {
      if (one.name == name && one.labels.find(label) != std::string::npos) return one.value;
    }
    return -1;
  }
};

// The text format, read by its rules: each family once, all its series together after its type.
Parsed parsed(const std::string& text) {
  static const std::regex kSeries(
      R"re(([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+))re");
  Parsed result;
  std::istringstream lines(text);
  std::string family;
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      if (result.types.contains(family)) result.faults.push_back("twice: " + family);
    } else if (line.starts_with("# TYPE ")) {
      result.types[family] = line.substr(line.rfind(' ') + 1);
    } else if (std::regex_match(line, found, kSeries)) {
      if (!found[1].str().starts_with(family)) result.faults.push_back("not of a family: " + line);
      if (!seen.insert(found[1].str() + found[2].str()).second)
        result.faults.push_back("twice: " + line);
      result.series.push_back({found[1], found[2], std::stod(found[3])});
    } else {
      result.faults.push_back(line);
    }
  }
  return result;
}

MetricsInput two_devices() {
  GpuDevice one = {.uuid = "GPU-1", .name = "A \"quoted\" \\ name\n", .vendor = "NVIDIA"};
  one.memory_total_bytes = std::int64_t{8} << 30;
  one.now = {.memory_used_bytes = std::int64_t{2} << 30,
             .utilization_percent = 40,
             .temperature_celsius = 60};
  one.age_seconds = 0.5;
  GpuDevice two = one;
  two.uuid = "GPU-2";
  two.now.utilization_percent = 80;
  two.now.temperature_celsius = {};
  MetricsInput input;
  input.snapshot = Snapshot{.time_ns = 5'000'000'000, .trigger = "interval", .devices = {one, two}};
  input.health.is_healthy = true;
  input.xid_errors[{"GPU-1", 79}] = 2;
  input.inference.count = 3;
  input.inference.sum_ms = 60;
  input.inference.buckets = {{10, 1}, {100, 3}};
  return input;
}

TEST(Metrics, AreRightByTheFormatAndTheFigures) {
  const Parsed metrics = parsed(metrics_text(two_devices(), MetricNames::all));
  EXPECT_THAT(metrics.faults, testing::IsEmpty());
  EXPECT_EQ(metrics.value("gpu_device_count"), 2);
  EXPECT_EQ(metrics.value("gpu_total_memory_mb"), 16 * 1024);
  EXPECT_EQ(metrics.value("gpu_total_memory_used_mb"), 4 * 1024);
  EXPECT_EQ(metrics.value("gpu_average_utilization_percent"), 60);
  EXPECT_EQ(metrics.value("gpu_max_temperature_celsius"), 60);
  EXPECT_EQ(metrics.value("gpu_inference_time_ms_bucket", "le=\"10\""), 1);
  EXPECT_EQ(metrics.value("gpu_inference_time_ms_bucket", "+Inf"), 3);
  EXPECT_EQ(metrics.value("gpu_inference_time_ms_sum"), 60);
  EXPECT_EQ(metrics.value("fathom_gpu_utilization_ratio", "GPU-2"), 0.8);
  EXPECT_EQ(metrics.value("fathom_gpu_memory_used_bytes", "GPU-1"), double{2} * (1 << 30));
  EXPECT_EQ(metrics.types.at("gpu_inference_time_ms"), "histogram");
  EXPECT_EQ(metrics.value("fathom_gpu_xid_errors_total", "xid=\"79\""), 2);
}

TEST(Metrics, WhatIsNotKnownIsNotThere) {
  const Parsed metrics = parsed(metrics_text(two_devices(), MetricNames::all));
  EXPECT_EQ(metrics.value("fathom_gpu_temperature_celsius", "GPU-2"), -1);
  EXPECT_FALSE(metrics.names().contains("fathom_gpu_power_watts"));
  const Parsed empty = parsed(metrics_text({}, MetricNames::all));
  EXPECT_THAT(empty.faults, testing::IsEmpty());
  EXPECT_EQ(empty.value("gpu_device_count"), 0);
  EXPECT_FALSE(empty.names().contains("gpu_average_utilization_percent"));
}

TEST(Metrics, AFigureThatGrewOldIsLeftOut) {
  MetricsInput input = two_devices();
  input.snapshot->devices[0].age_seconds = 60;
  input.snapshot->devices[1].state = DeviceState::lost;
  const Parsed metrics = parsed(metrics_text(input, MetricNames::all));
  EXPECT_FALSE(metrics.names().contains("fathom_gpu_utilization_ratio"));
  EXPECT_FALSE(metrics.names().contains("gpu_average_utilization_percent"));
  EXPECT_EQ(metrics.value("fathom_gpu_info", "GPU-1"), 1);
  EXPECT_EQ(metrics.value("fathom_gpu_status", "GPU-2\",state=\"lost"), 1);
  EXPECT_EQ(metrics.value("gpu_device_count"), 1);
}

// Dashboards and alerts of people hang on these.
TEST(Metrics, TheNamesDoNotChange) {
  const Served served;
  const Parsed metrics = parsed(served.get("/metrics", served.metrics).body);
  EXPECT_THAT(metrics.faults, testing::IsEmpty());
  std::set<std::string> families;
  for (const auto& [name, type] : metrics.types) families.insert(name);
  const std::set<std::string> expected = {"fathom_alerts_total",
                                          "fathom_audit_failing",
                                          "fathom_audit_lines_total",
                                          "fathom_backend_up",
                                          "fathom_collect_duration_seconds",
                                          "fathom_collect_last_success_timestamp_seconds",
                                          "fathom_collect_success",
                                          "fathom_gpu_clock_hertz",
                                          "fathom_gpu_energy_joules_total",
                                          "fathom_gpu_errors_total",
                                          "fathom_gpu_fan_ratio",
                                          "fathom_gpu_info",
                                          "fathom_gpu_memory_reserved_bytes",
                                          "fathom_gpu_memory_total_bytes",
                                          "fathom_gpu_memory_used_bytes",
                                          "fathom_gpu_power_limit_watts",
                                          "fathom_gpu_power_watts",
                                          "fathom_gpu_status",
                                          "fathom_gpu_temperature_celsius",
                                          "fathom_gpu_temperature_limit_celsius",
                                          "fathom_gpu_throttle_active",
                                          "fathom_gpu_utilization_ratio",
                                          "fathom_http_connections",
                                          "fathom_http_connections_refused_total",
                                          "fathom_http_requests_denied_total",
                                          "fathom_http_requests_malformed_total",
                                          "fathom_http_requests_total",
                                          "fathom_http_streams",
                                          "fathom_inference_duration_seconds",
                                          "fathom_sessions_total",
                                          "gpu_average_utilization_percent",
                                          "gpu_device_count",
                                          "gpu_inference_time_ms",
                                          "gpu_max_temperature_celsius",
                                          "gpu_profiling_sessions_total",
                                          "gpu_thermal_alerts_total",
                                          "gpu_total_memory_mb",
                                          "gpu_total_memory_used_mb"};
  EXPECT_EQ(families, expected);
}

TEST(Metrics, TheBaseNamesSayTheSameInBaseUnits) {
  const Parsed base = parsed(metrics_text(two_devices(), MetricNames::base_units));
  EXPECT_THAT(base.faults, testing::IsEmpty());
  for (const std::string& name : base.names()) EXPECT_THAT(name, testing::StartsWith("fathom_"));
  EXPECT_EQ(base.value("fathom_inference_duration_seconds_sum"), 0.06);
  EXPECT_EQ(base.value("fathom_inference_duration_seconds_bucket", "le=\"0.01\""), 1);
  EXPECT_EQ(base.value("fathom_inference_duration_seconds_bucket", "+Inf"), 3);
  EXPECT_EQ(base.value("fathom_gpu_utilization_ratio", "GPU-2"), 0.8);

  const Served served;
  const std::string answered = served.get("/metrics?names=base", served.metrics).body;
  EXPECT_THAT(answered, testing::HasSubstr("\nfathom_sessions_total "));
  EXPECT_THAT(answered, testing::Not(testing::HasSubstr("\ngpu_")));
  EXPECT_EQ(served.get("/metrics?names=some", served.metrics).status, 400);
}

void collect_expressions(const nlohmann::json& part, std::vector<std::string>& found) {
  if (part.is_object() && part.contains("expr")) found.push_back(part["expr"]);
  if (part.is_object() && part.value("name", "") == "gpu" && part.contains("query"))
    found.push_back(part["query"]);
  if (!part.is_structured()) return;
  for (const nlohmann::json& member : part) collect_expressions(member, found);
}

TEST(Metrics, TheDashboardAsksForSeriesThatThereAre) {
  const Served served;
  // As docs/server.md has Prometheus ask.
  const std::set<std::string> there =
      parsed(served.get("/metrics?names=base", served.metrics).body).names();
  const auto dashboard =
      nlohmann::json::parse(cli::content_of(FATHOM_SOURCE_DIR "/docs/grafana.json"));
  std::vector<std::string> expressions;
  collect_expressions(dashboard, expressions);
  EXPECT_GT(expressions.size(), 8U);
  static const std::regex kName("(?:fathom|gpu)_[a-z_]+");
  for (const std::string& expression : expressions) {
    std::size_t series = 0;
    for (std::sregex_iterator at(expression.begin(), expression.end(), kName), end; at != end;
         ++at) {
      EXPECT_TRUE(there.contains(at->str())) << at->str() << " in " << expression;
      ++series;
    }
    EXPECT_GT(series, 0U) << expression;
  }
}

}  // namespace
}  // namespace fathom::serve
