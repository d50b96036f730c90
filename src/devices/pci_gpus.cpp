#include "devices/pci_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>

#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

// A display controller, or a processing accelerator, as the largest ones call themselves.
bool is_gpu_class(const std::string& folder) {
  const std::string code = read_text(folder + "/class").value_or("");
  return code.starts_with("0x03") || code.starts_with("0x12");
}

std::vector<std::string> nodes_of(const std::string& folder) {
  std::vector<std::string> nodes = names_in(folder + "/drm");
  std::erase_if(nodes, [](const std::string& name) {
    return !name.starts_with("card") && !name.starts_with("renderD");
  });
  return nodes;
}

// "0x73bf" is "73bf".
std::string digits_of(const std::string& path) {
  const std::string text = read_text(path).value_or("");
  return text.starts_with("0x") ? text.substr(2) : "";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// A line of amdgpu.ids: "73BF,\tC1,\tAMD Radeon RX 6800 XT".
std::string amd_name(const Roots& roots, const std::string& device, const std::string& revision) {
  std::ifstream file(roots.share + "/libdrm/amdgpu.ids");
  const std::string begin = upper(device) + ",\t" + upper(revision) + ",\t";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return {};
}

// In pci.ids a line of a vendor, "1002  …", is followed by those of its devices, "\t73bf  Navi 21
// [Radeon RX 6800]". What is sold under another name than it was made has that in brackets.
std::string listed_name(const std::string& path, const std::string& vendor,
                        const std::string& device) {
  std::ifstream file(path);
  bool is_of_vendor = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != '\t') {
      if (is_of_vendor) return {};
      is_of_vendor = line.starts_with(vendor + " ");
      continue;
    }
    if (!is_of_vendor || !line.starts_with("\t" + device + " ")) continue;
    const std::size_t name = line.find_first_not_of(' ', device.size() + 1);
    if (name == line.npos) return {};
    const std::size_t open = line.find('[');
    const std::size_t close = line.rfind(']');
    const bool has_brackets = open != line.npos && close != line.npos && close > open + 1;
    return has_brackets ? line.substr(open + 1, close - open - 1) : line.substr(name);
  }
  return {};
}

}  // namespace

std::vector<PciGpu> pci_gpus(const Roots& roots, std::string_view vendor) {
  std::vector<PciGpu> gpus;
  const std::string bus = roots.sys + "/bus/pci/devices/";
  for (const std::string& address : names_in(bus)) {
    const std::string folder = bus + address;
    if (read_text(folder + "/vendor") != vendor || !is_gpu_class(folder)) continue;
    gpus.push_back({address, folder, link_name(folder + "/driver"), nodes_of(folder)});
  }
  return gpus;
}

bool any_gpu_sleeps(const Roots& roots) {
  const std::string bus = roots.sys + "/bus/pci/devices/";
  return std::ranges::any_of(names_in(bus), [&](const std::string& address) {
    return is_suspended(bus + address) && is_gpu_class(bus + address);
  });
}

std::string name_of_gpu(const Roots& roots, const PciGpu& gpu, std::string_view vendor_name) {
  const std::string vendor = digits_of(gpu.folder + "/vendor");
  const std::string device = digits_of(gpu.folder + "/device");
  if (device.empty()) return fmt::format("{} GPU", vendor_name);
  if ("0x" + vendor == kAmdId) {
    std::string name = amd_name(roots, device, digits_of(gpu.folder + "/revision"));
    if (!name.empty()) return name;
  }
  for (const char* list : {"/misc/pci.ids", "/hwdata/pci.ids"}) {
    const std::string name = listed_name(roots.share + list, vendor, device);
    if (!name.empty()) return fmt::format("{} {}", vendor_name, name);
  }
  return fmt::format("{} GPU {}", vendor_name, device);
}

std::optional<PciLink> pci_link(const Roots& roots, const std::string& address) {
  if (address.empty()) return {};
  const std::string folder = roots.sys + "/bus/pci/devices/" + address;
  // "16.0 GT/s PCIe": transfers of one bit per lane.
  const std::string speed = read_text(folder + "/current_link_speed").value_or("");
  double giga = 0;
  const auto [end, problem] = std::from_chars(speed.data(), speed.data() + speed.size(), giga);
  const auto lanes = read_number(folder + "/current_link_width");
  const auto most = read_number(folder + "/max_link_width");
  if (problem != std::errc{} || !(giga > 0) || giga > 1000) return {};
  if (!lanes || *lanes < 1 || *lanes > 32) return {};
  constexpr double kLastOfOldCode = 5.0;  // up to it, 8 bits are sent as 10; above, 128 as 130
  const double share = giga <= kLastOfOldCode ? 8.0 / 10 : 128.0 / 130;
  return PciLink{
      .bytes_per_second = giga * 1e9 / 8 * share * static_cast<double>(*lanes),
      .lanes = static_cast<int>(*lanes),
      .most_lanes = static_cast<int>(std::clamp<std::int64_t>(most.value_or(*lanes), *lanes, 32))};
}

std::string driver_version(const Roots& roots, const std::string& driver) {
  if (driver.empty()) return {};
  if (const auto own = read_text(roots.sys + "/module/" + driver + "/version")) return *own;
  const auto kernel = read_text(roots.proc + "/sys/kernel/osrelease");
  return kernel ? "Linux " + *kernel : "";
}

}  // namespace fathom::devices
