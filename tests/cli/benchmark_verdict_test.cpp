#include "cli/benchmark_verdict.h"

#include <gtest/gtest.h>

#include "fathom/gpu_device.h"

namespace fathom::cli::benchmark_verdict_test {

devices::Measured about(double median) {
  return {.median = median, .least = 0.97 * median, .most = 1.02 * median};
}

// An A100 with 80 GB: 19.5 TFLOP/s, 2,039 GB/s; PCIe of 31.5 GB/s.
devices::Benchmark healthy() {
  devices::Benchmark made;
  made.name = "NVIDIA A100-SXM4-80GB";
  made.type = "gpu";
  made.pci_address = "0000:3b:00.0";
  made.to_device_bytes_per_second = about(25e9);
  made.from_device_bytes_per_second = about(26e9);
  made.link = devices::PciLink{.bytes_per_second = 31.5e9, .lanes = 16, .most_lanes = 16};
  made.launch_seconds = about(8e-6);
  made.memory_bytes_per_second = about(1700e9);
  made.vector_flops = about(17e12);
  made.matmul_flops = about(6e12);
  made.results_are_right = true;
  return made;
}

bool says(const JudgedBenchmark& judged, const std::string& part) {
  for (const std::string& finding : judged.findings) {
    if (finding.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(BenchmarkVerdict, OfAHealthyCard) {
  const JudgedBenchmark judged = judge(healthy(), {}, 0);
  EXPECT_TRUE(judged.is_healthy);
  ASSERT_EQ(judged.rows.size(), 6u);
  EXPECT_NEAR(*judged.rows[0].percent_of_peak(), 79.4, 0.1);
  EXPECT_FALSE(judged.rows[2].percent_of_peak());  // a launch has no published peak
  EXPECT_NEAR(*judged.rows[3].percent_of_peak(), 83.4, 0.1);
  EXPECT_EQ(judged.findings.size(), 1u);
  EXPECT_TRUE(says(judged, "As fast as such a device usually is"));
}

TEST(BenchmarkVerdict, SlowMemoryIsSeen) {
  devices::Benchmark slow = healthy();
  slow.memory_bytes_per_second = about(600e9);
  const JudgedBenchmark judged = judge(slow, {}, 0);
  EXPECT_FALSE(judged.is_healthy);
  EXPECT_TRUE(says(judged, "Slow: element-wise, memory, 29 % of the peak, where 65 %"));
}

TEST(BenchmarkVerdict, WrongResultsComeFirst) {
  devices::Benchmark sick = healthy();
  sick.results_are_right = false;
  sick.vector_flops = about(1e12);
  const JudgedBenchmark judged = judge(sick, {}, 0);
  EXPECT_FALSE(judged.is_healthy);
  EXPECT_NE(judged.findings.at(0).find("results are wrong"), std::string::npos);
}

TEST(BenchmarkVerdict, ThrottlingLanesAndUnsteadyRunsAreSaid) {
  devices::Benchmark made = healthy();
  made.link->lanes = 8;
  made.launch_seconds->most = 1;
  const auto bit = [](ThrottleReason reason) { return static_cast<std::uint32_t>(reason); };
  const JudgedBenchmark judged =
      judge(made, {}, bit(ThrottleReason::hardware_thermal) | bit(ThrottleReason::power_cap));
  EXPECT_TRUE(says(judged, "8 of 16 PCIe lanes"));
  EXPECT_TRUE(says(judged, "slowed down meanwhile: hardware thermal."));
  EXPECT_TRUE(says(judged, "The runs differ much"));
  // A power cap is normal under load.
  EXPECT_TRUE(judge(healthy(), {}, bit(ThrottleReason::power_cap)).is_healthy);
}

TEST(BenchmarkVerdict, WithoutAPeakThereIsNoVerdict) {
  devices::Benchmark made = healthy();
  made.name = "pthread-cpu";
  made.link.reset();
  made.memory_bytes_per_second = about(1);
  const JudgedBenchmark judged = judge(made, {}, 0);
  EXPECT_TRUE(judged.is_healthy);
  EXPECT_TRUE(says(judged, "No published peak is known"));
}

TEST(BenchmarkVerdict, WhatCouldNotBeMeasuredIsSaid) {
  devices::Benchmark made;
  made.name = "GPU";
  made.problem = "clCreateContext gave -5";
  const JudgedBenchmark judged = judge(made, {}, 0);
  EXPECT_FALSE(judged.is_healthy);
  EXPECT_TRUE(judged.rows.empty());
  EXPECT_TRUE(says(judged, "Not measured to the end: clCreateContext gave -5."));
}

}  // namespace fathom::cli::benchmark_verdict_test
