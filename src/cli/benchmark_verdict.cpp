#include "cli/benchmark_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/efficiency/peaks.h"
#include "base/format.h"
#include "devices/device_json.h"

namespace fathom::cli {
namespace {

using devices::Measured;
using Unit = BenchmarkRow::Unit;

// What the kernels of devices/benchmark_kernels.h reach of the published peak at least on a card
// that is well and has nothing else to do. They are simple: the product of matrices, above all, is
// far from what a tuned library does, and nothing here uses matrix cores.
constexpr double kUsualCopyPercent = 55;
constexpr double kUsualMemoryPercent = 65;
constexpr double kUsualVectorPercent = 55;
constexpr double kUsualMatmulPercent = 15;
constexpr double kUnsteadyPercent = 30;  // spread of the runs

std::optional<double> times(std::optional<double> value, double factor) {
  if (!value) return {};
  return *value * factor;
}

std::vector<BenchmarkRow> rows_of(const devices::Benchmark& benchmark,
                                  const analyze::DevicePeaks& peaks) {
  std::vector<BenchmarkRow> rows;
  const auto add = [&](const char* key, const char* what, const std::optional<Measured>& measured,
                       Unit unit, std::optional<double> peak, double usual_percent) {
    if (!measured) return;
    BenchmarkRow row{.key = key,
                     .what = what,
                     .measured = *measured,
                     .unit = unit,
                     .peak = peak,
                     .usual_percent = {}};
    if (peak) row.usual_percent = usual_percent;
    rows.push_back(std::move(row));
  };
  const std::optional<double> link =
      benchmark.link ? std::optional(benchmark.link->bytes_per_second) : std::nullopt;
  add("host_to_device_bytes_per_second", "copy to the device", benchmark.to_device_bytes_per_second,
      Unit::bytes_per_second, link, kUsualCopyPercent);
  add("device_to_host_bytes_per_second", "copy from the device",
      benchmark.from_device_bytes_per_second, Unit::bytes_per_second, link, kUsualCopyPercent);
  add("launch_seconds", "launch and wait", benchmark.launch_seconds, Unit::seconds, {}, 0);
  add("memory_bytes_per_second", "element-wise, memory", benchmark.memory_bytes_per_second,
      Unit::bytes_per_second, times(peaks.memory_gb_s, 1e9), kUsualMemoryPercent);
  add("vector_flops", "element-wise, arithmetic", benchmark.vector_flops, Unit::flops,
      times(peaks.fp32_tflops, 1e12), kUsualVectorPercent);
  add("matmul_flops", "matrix multiply, fp32", benchmark.matmul_flops, Unit::flops,
      times(peaks.fp32_tflops, 1e12), kUsualMatmulPercent);
  return rows;
}

std::string reasons_in_words(std::uint32_t bits) {
  std::string words;
  for (const ThrottleReason reason : devices::throttle_reasons_of(bits)) {
    std::string name(devices::name_of(reason));
    std::ranges::replace(name, '_', ' ');
    words += (words.empty() ? "" : ", ") + name;
  }
  return words;
}

constexpr std::uint32_t kAlarming = static_cast<std::uint32_t>(ThrottleReason::hardware_thermal) |
                                    static_cast<std::uint32_t>(ThrottleReason::software_thermal) |
                                    static_cast<std::uint32_t>(ThrottleReason::hardware_slowdown) |
                                    static_cast<std::uint32_t>(ThrottleReason::power_brake);

void find_trouble(JudgedBenchmark& judged) {
  const devices::Benchmark& benchmark = judged.benchmark;
  std::vector<std::string>& findings = judged.findings;
  if (!benchmark.problem.empty()) {
    findings.push_back(fmt::format("Not measured to the end: {}.", benchmark.problem));
  }
  if (benchmark.results_are_right == false) {
    findings.emplace_back("Its results are wrong. Do not use it before it has been tested.");
  }
  for (const BenchmarkRow& row : judged.rows) {
    const std::optional<double> percent = row.percent_of_peak();
    if (!percent || *percent >= *row.usual_percent) continue;
    findings.push_back(
        fmt::format("Slow: {}, {:.0f} % of the peak, where {:.0f} % or more is usual. It may be "
                    "throttled, busy with other work, or defective.",
                    row.what, *percent, *row.usual_percent));
  }
  if (benchmark.link && benchmark.link->lanes < benchmark.link->most_lanes) {
    findings.push_back(fmt::format("Connected by {} of {} PCIe lanes. Check its slot and riser.",
                                   benchmark.link->lanes, benchmark.link->most_lanes));
  }
  if ((judged.throttle & kAlarming) != 0) {
    findings.push_back(fmt::format("It was slowed down meanwhile: {}.",
                                   reasons_in_words(judged.throttle & kAlarming)));
  }
  judged.is_healthy = findings.empty();
}

}  // namespace

std::optional<double> BenchmarkRow::percent_of_peak() const {
  if (!peak || *peak <= 0) return {};
  return 100 * measured.median / *peak;
}

JudgedBenchmark judge(devices::Benchmark benchmark, std::optional<std::int64_t> memory_bytes,
                      std::uint32_t throttle) {
  JudgedBenchmark judged;
  const analyze::DevicePeaks peaks = analyze::peaks_of(benchmark.name, memory_bytes);
  judged.rows = rows_of(benchmark, peaks);
  judged.benchmark = std::move(benchmark);
  judged.throttle = throttle;
  find_trouble(judged);
  const auto is_unsteady = [](const BenchmarkRow& row) {
    return row.measured.spread_percent() > kUnsteadyPercent;
  };
  if (std::ranges::any_of(judged.rows, is_unsteady)) {
    judged.findings.emplace_back(
        "The runs differ much: other programs may be using it. Measure again when it is idle.");
  }
  if (!judged.is_healthy) return judged;
  judged.findings.emplace_back(
      peaks.memory_gb_s || peaks.fp32_tflops
          ? "As fast as such a device usually is with kernels as simple as these."
          : "No published peak is known for it: compare it with another one of its kind.");
  return judged;
}

}  // namespace fathom::cli
