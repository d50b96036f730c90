// Any bytes as what the kernel's files and nvidia-smi say of GPUs: what is told of a device is
// never beyond what there can be.

#include <cstdint>
#include <string>
#include <string_view>

#include "devices/amd_reading.h"
#include "devices/fdinfo.h"
#include "devices/kernel_files.h"
#include "devices/nvidia_smi_text.h"

namespace {

void check_share(const std::optional<double>& percent) {
  if (percent && !(*percent >= 0 && *percent <= 100)) __builtin_trap();
}
void check_bytes(const std::optional<std::int64_t>& bytes) {
  if (bytes && *bytes < 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::devices;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto client = parse_fdinfo(text)) {
    check_bytes(client->device_bytes);
    check_bytes(client->host_bytes);
    for (const auto& [name, engine] : client->engines) {
      if (!(engine.capacity >= 1)) __builtin_trap();
    }
  }
  amd::throttle_in(text);
  amd::parse_ecc(text);
  const auto clock = amd::fastest_clock(text);
  if (clock && !(*clock > 0)) __builtin_trap();
  parse_start_ticks(text);
  smi::parse_programs(text);
  // The help in the first half, the answer in the second.
  const std::string_view help = text.substr(0, size / 2);
  for (const auto& gpu : smi::parse_gpus(text.substr(size / 2), smi::fields_to_ask(help))) {
    if (gpu.uuid.empty() || gpu.name.empty()) __builtin_trap();
    check_share(gpu.now.utilization_percent);
    check_bytes(gpu.memory_total_bytes);
    check_bytes(gpu.now.memory_used_bytes);
  }
  return 0;
}
