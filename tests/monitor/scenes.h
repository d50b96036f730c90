#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "devices/watcher.h"
#include "fathom/monitor.h"

// Devices and times for tests of the monitor, none of which waits.
namespace fathom::monitor::test {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 1'800'000'000 * kSecond;
constexpr double kMb = 1024.0 * 1024.0;

inline std::int64_t at(double seconds) {
  return kStart + static_cast<std::int64_t>(seconds * 1e9);
}

inline GpuDevice gpu(const std::string& uuid = "gpu-0", unsigned index = 0) {
  GpuDevice device{
      .index = index, .uuid = uuid, .name = "Test GPU", .vendor = "Test", .type = "gpu"};
  device.memory_total_bytes = 16'000'000'000;
  device.power_limit_watts = 300;
  device.max_core_clock_hz = 1.5e9;
  device.now.memory_used_bytes = 4'000'000'000;
  device.now.utilization_percent = 60;
  device.now.temperature_celsius = 50;
  device.now.power_watts = 123.4;
  device.now.core_clock_hz = 1.41e9;
  device.now.throttle = 0;
  device.age_seconds = 0.25;
  return device;
}

inline GpuDevice hot(double celsius) {
  GpuDevice device = gpu();
  device.now.temperature_celsius = celsius;
  return device;
}

inline devices::Devices look(std::vector<GpuDevice> list, std::vector<DeviceError> errors = {}) {
  devices::Devices all;
  all.devices = std::move(list);
  all.errors = std::move(errors);
  return all;
}

// A folder that is gone in the end.
class Folder {
 public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "fathom-monitor-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  MonitorConfig config() const {
    MonitorConfig config;
    config.output_dir = path_ + "/sessions";
    return config;
  }

 private:
  std::string path_;
};

}  // namespace fathom::monitor::test
