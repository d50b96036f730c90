#include "report/memory_report.h"

#include <fmt/format.h>

namespace fathom::report {

MemoryReport make_memory_report(const explain::Analysis& analysis) {
  return {analysis.source(), analysis.memory()};
}

const analyze::DeviceMemory* main_device(const analyze::Memory& memory) {
  const analyze::DeviceMemory* main = nullptr;
  for (const analyze::DeviceMemory& device : memory.devices) {
    const bool is_same_kind = main != nullptr && device.device == main->device;
    if (main == nullptr || (is_same_kind && device.peak_bytes() > main->peak_bytes())) {
      main = &device;
    }
  }
  return main;
}

std::string device_label(const analyze::DeviceMemory& device) {
  if (device.device == trace::MemoryDevice::cpu) return "CPU";
  const char* const kind = device.device == trace::MemoryDevice::gpu ? "GPU" : "device";
  return device.index < 0 ? kind : fmt::format("{} {}", kind, device.index);
}

}  // namespace fathom::report
