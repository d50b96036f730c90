#include "devices/fdinfo.h"

#include <algorithm>
#include <array>
#include <limits>

#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

// Drawing and computing, of amdgpu, i915 and xe; copies and video are other engines' business.
constexpr std::array<std::string_view, 5> kComputing = {"gfx", "compute", "render", "rcs", "ccs"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Cuts `prefix` off; false where the text does not begin with it.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<double> positive(std::string_view value) {
  const std::optional<std::int64_t> number = parse_number(value);
  if (!number || *number < 0) return {};
  return static_cast<double>(*number);
}

// "5120 KiB"; without a unit, bytes.
std::optional<std::int64_t> bytes_of(std::string_view value) {
  const std::optional<std::int64_t> number = parse_number(value);
  if (!number || *number < 0) return {};
  const std::size_t unit_begin = value.find_first_not_of("0123456789");
  const std::string_view unit = unit_begin == value.npos ? "" : trimmed(value.substr(unit_begin));
  std::int64_t factor = 1;
  if (unit == "KiB" || unit == "kB")
    factor = 1 << 10;
  else if (unit == "MiB")
    factor = 1 << 20;
  else if (unit == "GiB")
    factor = 1 << 30;
  else if (!unit.empty())
    return {};
  if (*number > std::numeric_limits<std::int64_t>::max() / 4 / factor) return {};
  return *number * factor;
}

// Of one region there is a line for all that was asked for (total) and, on newer kernels, one for
// what is there (resident), which older ones call "memory". What is there counts.
struct Region {
  std::optional<std::int64_t> resident, total;
  std::optional<std::int64_t> bytes() const { return resident ? resident : total; }
};

// Memory of the GPU: vram (amdgpu, radeon), vram0 (xe), local0 (i915).
bool is_of_device(std::string_view region) {
  return region.starts_with("vram") || region.starts_with("local");
}
// Memory of the host that the GPU works in: gtt (amdgpu, xe), system (xe), system0 (i915).
bool is_of_host(std::string_view region) {
  return region.starts_with("gtt") || region.starts_with("system");
}

void add(std::optional<std::int64_t>& sum, std::int64_t bytes) {
  sum = std::min(sum.value_or(0) + bytes, std::numeric_limits<std::int64_t>::max() / 4);
}

void read_engine(DrmClient& client, std::string_view key, std::string_view value) {
  const bool is_capacity = take(key, "engine-capacity-");
  const bool is_total = !is_capacity && take(key, "total-cycles-");
  const bool is_cycles = !is_capacity && !is_total && take(key, "cycles-");
  const bool is_time = !is_capacity && !is_total && !is_cycles && take(key, "engine-");
  if (!is_capacity && !is_total && !is_cycles && !is_time) return;
  if (std::ranges::find(kComputing, key) == kComputing.end()) return;
  const std::optional<double> number = positive(value);
  if (!number) return;
  EngineUse& engine = client.engines[std::string(key)];
  if (is_capacity) engine.capacity = std::max(1.0, *number);
  if (is_total) engine.total_cycles = number;
  if (is_cycles) engine.busy_cycles = number;
  if (is_time) engine.busy_ns = number;
}

void read_region(std::map<std::string, Region, std::less<>>& regions, std::string_view key,
                 std::string_view value) {
  if (take(key, "resident-") || take(key, "memory-")) {
    regions[std::string(key)].resident = bytes_of(value);
  } else if (take(key, "total-") && !key.starts_with("cycles-")) {
    regions[std::string(key)].total = bytes_of(value);
  }
}

}  // namespace

std::optional<DrmClient> parse_fdinfo(std::string_view text) {
  DrmClient client;
  std::map<std::string, Region, std::less<>> regions;
  bool is_gpu = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string_view key = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "vram mem") {  // of amdgpu before Linux 5.19
      regions["vram"].resident = bytes_of(value);
      is_gpu = true;
      continue;
    }
    if (!take(key, "drm-")) continue;
    is_gpu = true;
    if (key == "pdev") client.pci_address = value;
    if (key == "client-id") {
      const std::optional<std::int64_t> id = parse_number(value);
      if (id && *id >= 0) client.id = static_cast<std::uint64_t>(*id);
    }
    read_engine(client, key, value);
    read_region(regions, key, value);
  }
  if (!is_gpu) return {};
  for (const auto& [name, region] : regions) {
    const std::optional<std::int64_t> bytes = region.bytes();
    if (bytes && is_of_device(name)) add(client.device_bytes, *bytes);
    if (bytes && is_of_host(name)) add(client.host_bytes, *bytes);
  }
  return client;
}

}  // namespace fathom::devices
