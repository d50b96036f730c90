#include <algorithm>
#include <fstream>
#include <string>

#include "devices/watcher.h"
#include "fathom/memory_monitor.h"

namespace fathom {
namespace {

constexpr std::chrono::milliseconds kFirstLook{500};

std::optional<std::int64_t> kilobytes(const std::string& line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return std::strtoll(line.c_str() + key.size(), nullptr, 10);
}

std::optional<MemoryLevel> host_memory_level() {
  std::ifstream file("/proc/meminfo");
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> available;
  for (std::string line; std::getline(file, line);) {
    if (const auto kb = kilobytes(line, "MemTotal:")) total = kb;
    if (const auto kb = kilobytes(line, "MemAvailable:")) available = kb;
  }
  if (!total || !available) return std::nullopt;
  return MemoryLevel{(*total - *available) * 1024, *total * 1024};
}

}  // namespace

MemorySource host_level() {
  return {"host", host_memory_level};
}

MemorySource pool_level(const MemoryPool& pool, std::int64_t total_bytes) {
  return {pool.name(), [&pool, total_bytes]() -> std::optional<MemoryLevel> {
            const auto reserved = static_cast<std::int64_t>(pool.statistics().reserved_bytes);
            return MemoryLevel{reserved, total_bytes};
          }};
}

std::vector<MemorySource> device_levels() {
  devices::WatcherOptions options;
  options.wanted = {.processes = false, .thermal = false, .power = false, .memory = true};
  const auto watcher = std::make_shared<devices::Watcher>(devices::backends(), options);
  watcher->wait_for_first_look(kFirstLook);
  std::vector<MemorySource> sources;
  for (const GpuDevice& device : watcher->latest().devices) {
    if (!device.memory_total_bytes) continue;
    const std::string uuid = device.uuid;
    sources.push_back({device.name + " " + uuid, [watcher, uuid]() -> std::optional<MemoryLevel> {
                         const auto now = watcher->latest().devices;
                         const auto own = std::ranges::find(now, uuid, &GpuDevice::uuid);
                         if (own == now.end() || !own->memory_total_bytes) return std::nullopt;
                         if (!own->now.memory_used_bytes) return std::nullopt;
                         return MemoryLevel{*own->now.memory_used_bytes, *own->memory_total_bytes};
                       }});
  }
  return sources;
}

}  // namespace fathom
