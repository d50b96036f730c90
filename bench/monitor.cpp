// What watching costs: eight GPUs of a driver that does nothing, at one sample per second and at
// ten; and a million samples without waiting, after which no more memory may be in use than before.

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "devices/demo.h"
#include "fathom/monitor.h"
#include "monitor/core.h"

namespace {

using fathom::GpuDevice;

constexpr unsigned kGpus = 8;
constexpr int kSamples = 1'000'000;

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double rss_mb() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

int descriptors() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

void print_limit(const std::string& name, double value, double limit, const char* unit) {
  fmt::print("{}: {:.3f} {}, limit {} {}, ratio {:.2f}\n", name, value, unit, limit, unit,
             value / limit);
  std::fflush(stdout);
}

// Percent of a core that the whole process takes while it watches.
double percent_while_watching(double interval_seconds, std::chrono::seconds length,
                              const std::string& folder) {
  fathom::MonitorConfig config;
  config.monitoring_interval_seconds = interval_seconds;
  config.enable_opencl_profiling = false;
  config.output_dir = folder;
  fathom::Monitor monitor(config);
  monitor.start();
  if (monitor.devices().size() != kGpus) {
    std::fputs("the driver that does nothing has not its eight GPUs\n", stderr);
    std::exit(1);
  }
  monitor.start_session("bench");  // what is written to disk counts
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double before = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(length);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return 100 * (cpu_seconds() - before) / took.count();
}

std::vector<GpuDevice> eight_lively_gpus(double seconds) {
  std::vector<GpuDevice> devices;
  for (unsigned seed = 1; devices.size() < kGpus; ++seed) {
    for (GpuDevice& device : fathom::devices::demo_devices(seed, seconds)) {
      device.index = static_cast<unsigned>(devices.size());
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

void a_million_samples(const std::string& folder) {
  fathom::MonitorConfig config;
  config.output_dir = folder;
  fathom::monitor::Core core(config);
  // The values come round again, so that making them costs little.
  std::vector<std::vector<GpuDevice>> looks;
  for (int i = 0; i < 600; ++i) looks.push_back(eight_lively_gpus(i));
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  double settled_mb = 0;
  int settled_descriptors = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kSamples; ++i) {
    fathom::devices::Devices devices;
    devices.devices = looks[static_cast<std::size_t>(i) % looks.size()];
    core.take((1'800'000'000 + std::int64_t{i}) * kSecondNs, std::move(devices), "interval");
    core.take_events();
    if (i == kSamples / 10) {
      settled_mb = rss_mb();
      settled_descriptors = descriptors();
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("monitor sample: {:.1f} us of 8 GPUs, without their drivers\n",
             1e6 * took.count() / kSamples);
  print_limit("monitor snapshot",
              static_cast<double>(core.history_bytes()) / static_cast<double>(config.max_snapshots),
              1024, "bytes");
  print_limit("monitor rss after a million samples, over that after 100,000", rss_mb() - settled_mb,
              0.5, "MB");
  print_limit("monitor descriptors after a million samples, over those after 100,000",
              descriptors() - settled_descriptors, 1, "descriptors");
}

}  // namespace

int main() {
  const std::string folder = FATHOM_BINARY_DIR "/bench_monitor";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/scenario")
      << "devices " << kGpus << "\nprocess " << getpid() << " 1024\n";
  setenv("FATHOM_NVML", FATHOM_FAKE_NVML_LIBRARY, 1);
  setenv("FATHOM_FAKE_NVML", (folder + "/scenario").c_str(), 1);
  const double slow = percent_while_watching(1.0, std::chrono::seconds(20), folder);
  print_limit("monitor cpu at 1 s", slow, 0.2, "%");
  print_limit("monitor rss", rss_mb(), 20, "MB");
  print_limit("monitor cpu at 0.1 s", percent_while_watching(0.1, std::chrono::seconds(10), folder),
              2, "%");
  a_million_samples(folder);
  std::filesystem::remove_all(folder);
}
