#include "cli/devices_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "devices/device_json.h"
#include "report/json/document.h"
#include "report/text/wrapped.h"

namespace fathom::cli {
namespace {

constexpr const char* kUnknown = "–";
constexpr const char* kLookedFor =
    "No GPU found. Looked for NVIDIA's through libnvidia-ml.so.1 and nvidia-smi, for AMD's "
    "(amdgpu) "
    "and Intel's (i915, xe) in /sys, and for others through libOpenCL.so.1. "
    "fathom devices --demo shows what GPUs would look like.";

std::string whole(std::optional<double> value, const char* unit, double divisor = 1) {
  if (!value) return kUnknown;
  return base::format_count(static_cast<std::uint64_t>(std::llround(*value / divisor))) + unit;
}

// "4.2 GB of 16 GB"; either may be missing.
std::string memory_of(const GpuDevice& device) {
  const auto& used = device.now.memory_used_bytes;
  const auto& total = device.memory_total_bytes;
  const auto bytes = [](std::int64_t count) {
    return base::format_bytes(static_cast<double>(count));
  };
  if (!used && !total) return kUnknown;
  if (!used) return bytes(*total);
  return total ? bytes(*used) + " of " + bytes(*total) : bytes(*used);
}

std::string power_of(const GpuDevice& device) {
  if (!device.now.power_watts) return kUnknown;
  if (!device.power_limit_watts) return whole(device.now.power_watts, " W");
  return whole(device.now.power_watts, "") + " of " + whole(device.power_limit_watts, " W");
}

// "ok", "suspended"; of one that is slowed down, why. That an idle GPU clocks down is nothing to
// tell.
std::string state_of(const GpuDevice& device) {
  constexpr auto kIdle = static_cast<std::uint32_t>(ThrottleReason::idle);
  std::string state;
  for (const ThrottleReason reason :
       devices::throttle_reasons_of(device.now.throttle.value_or(0) & ~kIdle)) {
    state += (state.empty() ? "" : ", ") + std::string(devices::name_of(reason));
  }
  if (device.needs_reset) state = "needs a reset";
  if (state.empty()) state = devices::name_of(device.state);
  std::ranges::replace(state, '_', ' ');
  return state;
}

std::string label_of(const GpuDevice& device) {
  return fmt::format("{}  {}", device.index, device.name);
}

std::string table_of_figures(const std::vector<GpuDevice>& all, std::size_t width) {
  base::Table table({"device", "memory", "in use", "temp", "power", "clock", "state"});
  for (const GpuDevice& device : all) {
    table.row({label_of(device), memory_of(device), whole(device.now.utilization_percent, " %"),
               whole(device.now.temperature_celsius, " °C"), power_of(device),
               whole(device.now.core_clock_hz, " MHz", 1e6), state_of(device)});
  }
  return table.text(width);
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? kUnknown : text;
}

std::string table_of_identities(const std::vector<GpuDevice>& all, std::size_t width) {
  base::Table table({"device", "type", "PCI address", "driver", "programs", "known through"});
  for (const GpuDevice& device : all) {
    const bool can_tell = device.backend != "opencl" && device.state == DeviceState::ok;
    table.row({label_of(device), device.type, or_unknown(device.pci_address),
               or_unknown(device.driver),
               can_tell ? base::format_count(device.processes.size()) : kUnknown, device.backend});
  }
  return table.text(width);
}

std::string rate_in_words(double value, BenchmarkRow::Unit unit) {
  switch (unit) {
    case BenchmarkRow::Unit::bytes_per_second:
      return base::format_decimal(value * 1e-9, value < 1e10 ? 2 : 1) + " GB/s";
    case BenchmarkRow::Unit::flops:
      return value < 1e12 ? base::format_decimal(value * 1e-9, 1) + " GFLOP/s"
                          : base::format_decimal(value * 1e-12, 2) + " TFLOP/s";
    case BenchmarkRow::Unit::seconds:
      break;
  }
  return base::format_duration(value * 1e9);
}

std::string benchmark_text(const JudgedBenchmark& judged, std::size_t width) {
  const devices::Benchmark& benchmark = judged.benchmark;
  std::string out = fmt::format("\n  {}, through OpenCL{}\n", base::fit(benchmark.name, width),
                                benchmark.pci_address.empty() ? "" : ", " + benchmark.pci_address);
  base::Table table({"measured", "median", "lowest", "highest", "peak", "of peak", "usual"});
  for (const BenchmarkRow& row : judged.rows) {
    const std::optional<double> percent = row.percent_of_peak();
    table.row({row.what, rate_in_words(row.measured.median, row.unit),
               rate_in_words(row.measured.least, row.unit),
               rate_in_words(row.measured.most, row.unit),
               row.peak ? rate_in_words(*row.peak, row.unit) : kUnknown,
               percent ? fmt::format("{:.0f} %", *percent) : kUnknown,
               row.usual_percent ? fmt::format("{:.0f} %+", *row.usual_percent) : kUnknown});
  }
  if (!table.empty()) out += table.text(width);
  for (const std::string& finding : judged.findings) out += report::wrapped(finding, "  ", width);
  return out;
}

void write_measured(base::JsonWriter& json, const BenchmarkRow& row) {
  json.key(row.key).begin_object();
  json.key("median").value(row.measured.median);
  json.key("lowest").value(row.measured.least);
  json.key("highest").value(row.measured.most);
  json.key("peak").value(row.peak);
  json.key("percent_of_peak").value(row.percent_of_peak());
  json.key("usual_percent").value(row.usual_percent);
  json.end_object();
}

void write_benchmark(base::JsonWriter& json, const JudgedBenchmark& judged) {
  const devices::Benchmark& benchmark = judged.benchmark;
  json.begin_object();
  json.key("name").value(benchmark.name);
  json.key("type").value(benchmark.type);
  json.key("through").value("opencl");
  if (!benchmark.pci_address.empty()) json.key("pci_address").value(benchmark.pci_address);
  for (const BenchmarkRow& row : judged.rows) write_measured(json, row);
  if (benchmark.link) {
    json.key("pcie_lanes").value(benchmark.link->lanes);
    json.key("pcie_most_lanes").value(benchmark.link->most_lanes);
  }
  json.key("results_are_right").value(benchmark.results_are_right);
  json.key("throttle").begin_array();
  for (const ThrottleReason reason : devices::throttle_reasons_of(judged.throttle)) {
    json.value(devices::name_of(reason));
  }
  json.end_array();
  json.key("is_healthy").value(judged.is_healthy);
  json.key("findings").begin_array();
  for (const std::string& finding : judged.findings) json.value(finding);
  json.end_array().end_object();
}

}  // namespace

std::string to_text(const DevicesReport& report, std::size_t width) {
  const std::vector<GpuDevice>& all = report.found.devices;
  std::string out;
  if (report.is_demo) out += "  Demo: these GPUs do not exist.\n\n";
  if (!all.empty()) {
    out += table_of_figures(all, width) + "\n" + table_of_identities(all, width);
  }
  if (std::ranges::none_of(all, [](const GpuDevice& each) { return each.type == "gpu"; })) {
    out += (all.empty() ? "" : "\n") + report::wrapped(kLookedFor, "  ", width);
  }
  for (const devices::BackendStatus& backend : report.found.backends) {
    if (backend.is_up) continue;
    // Problems begin with the name of what has them.
    const std::string no_answer = backend.name + ": its driver does not answer";
    out += report::wrapped(backend.problem.empty() ? no_answer : backend.problem, "  ", width);
  }
  if (!report.benchmarks) return out;
  for (const JudgedBenchmark& judged : *report.benchmarks) out += benchmark_text(judged, width);
  if (report.benchmarks->empty()) {
    out += "\n" + report::wrapped(
                      "Nothing to measure: OpenCL lists no device. Install the OpenCL "
                      "driver of your GPU, or pocl-opencl-icd for the processor.",
                      "  ", width);
  }
  return out;
}

std::string to_json(const DevicesReport& report) {
  std::string out;
  base::JsonWriter json(out);
  report::begin_document(json, "devices");
  json.key("demo").value(report.is_demo);
  json.key("devices").begin_array();
  for (const GpuDevice& device : report.found.devices) {
    devices::write_device(json, device, devices::Commands::hidden);
  }
  json.end_array().key("backends").begin_array();
  for (const devices::BackendStatus& backend : report.found.backends) {
    json.begin_object();
    json.key("name").value(backend.name);
    json.key("is_up").value(backend.is_up);
    json.key("problem").value(backend.problem);
    json.end_object();
  }
  json.end_array();
  if (report.benchmarks) {
    json.key("benchmarks").begin_array();
    for (const JudgedBenchmark& judged : *report.benchmarks) write_benchmark(json, judged);
    json.end_array();
  }
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::cli
