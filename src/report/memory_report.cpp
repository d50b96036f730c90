#include "report/memory_report.h"

#include <fmt/format.h>

#include "base/format.h"
#include "base/printable.h"

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

namespace {

// Less than this of what is reserved is not worth a sentence.
constexpr double kWorthASentence = 0.1;

std::string unused_sentence(const analyze::UnusedMemory& unused, std::string_view when) {
  const auto share = [&](std::int64_t bytes) {
    return unused.reserved > 0 ? static_cast<double>(bytes) / static_cast<double>(unused.reserved)
                               : 0;
  };
  const auto size = [](std::int64_t bytes) { return base::format_bytes(bytes); };
  std::string text = fmt::format(
      "{} {} was reserved: {} in blocks, {} in {}, {} in holes between blocks.", when,
      size(unused.reserved), size(unused.reserved - unused.free_segment_bytes - unused.hole_bytes),
      size(unused.free_segment_bytes),
      base::format_plural(unused.free_segments, "free segment", "free segments"),
      size(unused.hole_bytes));
  if (share(unused.free_segment_bytes) >= kWorthASentence) {
    text += " torch.cuda.empty_cache() gives free segments back to the device.";
  }
  if (share(unused.hole_bytes) >= kWorthASentence) {
    text += " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True avoids holes.";
  }
  return text;
}

}  // namespace

std::vector<std::string> memory_notes(const analyze::DeviceMemory& device) {
  std::vector<std::string> notes;
  if (device.unused_at_peak)
    notes.push_back(unused_sentence(*device.unused_at_peak, "At the peak"));
  if (device.unused_at_end) notes.push_back(unused_sentence(*device.unused_at_end, "At the end"));
  if (!device.failures.empty()) {
    const trace::OutOfMemory& first = device.failures.front();
    std::string text =
        fmt::format("{} failed for want of memory, the first of {}",
                    base::format_plural(device.failures.size(), "allocation", "allocations"),
                    base::format_bytes(first.bytes));
    if (first.device_free) {
      text += fmt::format(" when the device had {} left", base::format_bytes(*first.device_free));
    }
    notes.push_back(text + ".");
  }
  return notes;
}

std::string softmax_hint(const analyze::DeviceMemory& device) {
  std::int64_t bytes = 0;
  const MemoryUse* most = nullptr;
  for (const MemoryUse& use : device.at_peak) {
    // The one of a loss, log_softmax, is no attention.
    const bool is_softmax = use.call.find("softmax") != std::string::npos &&
                            use.call.find("log_softmax") == std::string::npos;
    if (!is_softmax) continue;
    bytes += use.bytes;
    if (most == nullptr) most = &use;
  }
  const std::int64_t peak = device.peak_bytes();
  if (most == nullptr || bytes * 10 < peak) return {};
  return fmt::format(
      "{} of the peak ({}) was allocated by a softmax ({}). Attention that writes out its scores "
      "keeps them for the backward pass; F.scaled_dot_product_attention does not.",
      base::format_percent(static_cast<double>(bytes) / static_cast<double>(peak) * 100),
      base::format_bytes(bytes), base::printable(most->call));
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
