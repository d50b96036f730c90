#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "devices/amd_reading.h"
#include "devices/card_backend.h"
#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

// The number by which the compute driver (KFD) knows a card; nothing where it does not. It places
// cards on the bus by one number: 8 bits of bus, 5 of device, 3 of function.
std::optional<std::int64_t> compute_id(const Roots& roots, const std::string& address) {
  const std::string nodes = roots.sys + "/class/kfd/kfd/topology/nodes/";
  for (const std::string& node : names_in(nodes)) {
    const std::string properties = read_text(nodes + node + "/properties").value_or("");
    const auto property = [&](std::string_view name) {
      const std::size_t place = ("\n" + properties).find(fmt::format("\n{} ", name));
      if (place == std::string::npos) return std::int64_t{-1};
      return parse_number(std::string_view(properties).substr(place + name.size() + 1))
          .value_or(-1);
    };
    const std::int64_t location = property("location_id");
    const std::int64_t domain = std::max<std::int64_t>(0, property("domain"));
    if (location < 0) continue;
    const std::string here = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, location >> 8 & 0xFF,
                                         location >> 3 & 0x1F, location & 7);
    if (here == address) return read_number(nodes + node + "/gpu_id");
  }
  return {};
}

class AmdReader : public CardReader {
 public:
  AmdReader(const PciGpu& pci, Roots roots)
      : card_(amd::card_in(pci.folder)),
        roots_(std::move(roots)),
        compute_id_(compute_id(roots_, pci.address)) {}

  void identify(GpuDevice& into) override {
    const std::string id = read_text(card_.folder + "/unique_id").value_or("");
    if (id.find_first_not_of('0') != id.npos) into.uuid = "amd-" + id;
    // Boards for servers say their name.
    const std::string name = read_text(card_.folder + "/product_name").value_or("");
    if (!name.empty()) into.name = name.starts_with("AMD") ? name : "AMD " + name;
    amd::read_limits(card_, into);
  }

  void read(const Wanted& wanted, Rate::Time, GpuDevice& into) override {
    amd::read_now(card_, wanted, into);
  }

  bool shares_memory_of_host() const override { return card_.is_apu; }

  // Programs that compute (ROCm) take their memory through another driver.
  std::map<std::int64_t, std::int64_t> other_memory() override {
    std::map<std::int64_t, std::int64_t> bytes_of;
    if (!compute_id_) return bytes_of;
    const std::string folder = roots_.sys + "/class/kfd/kfd/proc/";
    for (const std::string& name : names_in(folder)) {
      const auto pid = parse_number(name);
      const auto bytes = read_number(fmt::format("{}{}/vram_{}", folder, name, *compute_id_));
      if (pid && bytes) bytes_of[*pid] = *bytes;
    }
    return bytes_of;
  }

 private:
  const amd::Card card_;
  const Roots roots_;
  const std::optional<std::int64_t> compute_id_;
};

}  // namespace

std::unique_ptr<Backend> amd_backend(const Roots& roots) {
  return card_backend({.backend = "amdgpu",
                       .name = "AMD",
                       .pci_id = kAmdId,
                       .drivers = {"amdgpu"},
                       .reader = [roots](const PciGpu& pci) -> std::unique_ptr<CardReader> {
                         return std::make_unique<AmdReader>(pci, roots);
                       }},
                      roots);
}

}  // namespace fathom::devices
