#include "report/memory_report.h"

#include <fmt/format.h>

#include "base/format.h"

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

std::string leak_sentence(const std::vector<MemoryUse>& leaks) {
  std::string text =
      fmt::format("{} in {} was still allocated at the end of the recording",
                  base::format_bytes(static_cast<double>(analyze::total_bytes(leaks))),
                  base::format_plural(analyze::total_blocks(leaks), "block", "blocks"));
  const MemoryUse& most = leaks.front();
  if (most.call.empty() && most.scope.empty()) return text + ".";
  text += ":";
  if (!most.call.empty()) text += " " + base::fit(most.call, 40);
  if (!most.scope.empty()) text += fmt::format(" in \"{}\"", base::fit(most.scope, 50));
  const std::size_t others = leaks.size() - 1;
  if (others > 0) text += " and " + base::format_plural(others, "more place", "more places");
  return text + ".";
}

}  // namespace fathom::report
