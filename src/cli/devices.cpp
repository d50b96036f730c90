#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "base/progress.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/devices_report.h"

namespace fathom::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* kDevicesNotes = R"(
A figure that a driver does not report is left out. A GPU that sleeps is listed and not woken, except
by --benchmark. docs/monitoring.md says what comes from where.

Examples:
  fathom devices                            the GPUs of this machine and what they do now
  fathom devices --json | python3 -m json.tool
  fathom devices --benchmark                how fast each is, beside its published peak
  fathom devices --demo                     two simulated GPUs)";

constexpr milliseconds kInterval{250};     // between looks
constexpr milliseconds kPatience{12'000};  // with a driver that does not answer

struct DevicesOptions {
  Outputs outputs;
  bool is_demo = false;
  bool benchmarks = false;
};

// Shares and power of some drivers are what happened between two looks.
bool needs_second_look(const devices::Devices& now) {
  return std::ranges::any_of(now.devices, [](const GpuDevice& device) {
    return device.state == DeviceState::ok && device.backend != "opencl" &&
           !device.now.utilization_percent;
  });
}

devices::Devices look(devices::Watcher& watcher) {
  watcher.wait_for_first_look(kPatience);
  devices::Devices now = watcher.latest();
  if (!needs_second_look(now)) return now;
  std::this_thread::sleep_for(2 * kInterval);
  return watcher.latest();
}

// By PCI address: why each was slowed down at some time.
using Throttles = std::map<std::string, std::uint32_t>;

void note_throttles(const devices::Devices& now, Throttles& seen) {
  for (const GpuDevice& device : now.devices) {
    if (!device.pci_address.empty()) seen[device.pci_address] |= device.now.throttle.value_or(0);
  }
}

std::vector<JudgedBenchmark> measure(devices::Watcher& watcher) {
  Throttles seen;
  std::vector<devices::Benchmark> all;
  {
    std::unique_ptr<base::Progress> progress;
    all = devices::measure_devices({}, [&](std::size_t, std::size_t steps) {
      if (!progress)
        progress = std::make_unique<base::Progress>("measuring", steps);
      else
        progress->advance(1);
      note_throttles(watcher.latest(), seen);
    });
  }
  const devices::Devices now = watcher.latest();
  note_throttles(now, seen);
  std::vector<JudgedBenchmark> judged;
  for (devices::Benchmark& benchmark : all) {
    const std::string address = benchmark.pci_address;
    const auto device = std::ranges::find_if(now.devices, [&](const GpuDevice& each) {
      return !address.empty() && each.pci_address == address && each.type != "mig";
    });
    const bool is_known = device != now.devices.end();
    if (is_known) benchmark.name = device->name;
    judged.push_back(judge(std::move(benchmark),
                           is_known ? device->memory_total_bytes : std::nullopt,
                           address.empty() ? 0 : seen[address]));
  }
  return judged;
}

Ending run(DevicesOptions options, Files& files) {
  resolve(options.outputs, files);
  devices::WatcherOptions how;
  how.interval = how.process_interval = kInterval;
  how.hung_after = kPatience;
  devices::Watcher watcher(devices::backends({.is_demo = options.is_demo}), how);
  DevicesReport report{.found = look(watcher), .is_demo = options.is_demo};
  if (options.benchmarks) report.benchmarks = measure(watcher);
  if (options.outputs.wants_json) write_json(to_json(report), options.outputs.json, files);
  if (options.outputs.wants_text()) {
    write_text(to_text(report, base::terminal_width(stdout)), {}, files);
  }
  return {};
}

}  // namespace

Command devices_command() {
  auto options = std::make_shared<DevicesOptions>();
  Command command = {"devices", "The GPUs of this machine, and what they do now", kDevicesNotes};
  command.option("--benchmark", &options->benchmarks,
                 "Measure each device for a few seconds, through OpenCL");
  command.option("--demo", &options->is_demo, "Show two simulated GPUs");
  command.json(options->outputs, "Everything, as JSON; to a file if one is named",
               JsonWord::is_a_file);
  command.only_one_of = {"--benchmark", "--demo"};
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
