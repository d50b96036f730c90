#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "devices/backoff.h"
#include "devices/child.h"
#include "devices/kernel_files.h"
#include "devices/opencl_library.h"
#include "devices/pci_gpus.h"

namespace fathom::devices {
namespace {

constexpr std::chrono::milliseconds kOpenclPatience{10'000};

// One line per device: name, vendor, type, driver, address, bytes of memory, MHz.
std::string list_of_devices() {
  std::string lines;
  const std::shared_ptr<const opencl::Library> library = opencl::open_library();
  if (!library) return lines;
  for (cl_device_id device : opencl::all_devices(*library)) {
    const auto text = [&](cl_device_info what) {
      return base::printable(opencl::text_of(*library, device, what));
    };
    lines += fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\n", base::printable(opencl::name_of(*library, device)),
        text(CL_DEVICE_VENDOR),
        opencl::type_name(opencl::number_of(*library, device, CL_DEVICE_TYPE, cl_device_type{0})),
        text(CL_DRIVER_VERSION), opencl::pci_address_of(*library, device),
        opencl::number_of(*library, device, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong{0}),
        opencl::number_of(*library, device, CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint{0}));
  }
  return lines;
}

std::vector<std::string> parts_of(std::string_view line) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t tab = line.find('\t');
    parts.emplace_back(line.substr(0, tab));
    if (tab == line.npos) return parts;
    line.remove_prefix(tab + 1);
  }
}

std::vector<GpuDevice> parse_list(std::string_view lines) {
  std::vector<GpuDevice> devices;
  std::map<std::string, int> of_name;
  while (!lines.empty()) {
    const std::vector<std::string> parts = parts_of(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(lines.size(), lines.find('\n') + 1));
    if (parts.size() != 7) continue;
    GpuDevice device{.index = static_cast<unsigned>(devices.size()),
                     .pci_address = parts[4],
                     .name = parts[0],
                     .vendor = parts[1],
                     .type = parts[2],
                     .driver = parts[3],
                     .backend = "opencl"};
    const int number = of_name[device.name]++;
    device.uuid = device.pci_address.empty() ? fmt::format("opencl-{}-{}", device.name, number)
                                             : "pci-" + device.pci_address;
    const std::int64_t bytes = parse_number(parts[5]).value_or(0);
    const std::int64_t mhz = parse_number(parts[6]).value_or(0);
    if (bytes > 0) device.memory_total_bytes = bytes;
    if (mhz > 0) device.max_core_clock_hz = static_cast<double>(mhz) * 1e6;
    // Two platforms may have a driver for one card.
    if (std::ranges::find(devices, device.uuid, &GpuDevice::uuid) == devices.end()) {
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

// OpenCL tells what there is, but not what it does. Its drivers take memory, may keep GPUs awake
// and may crash, so a copy of this process asks them, once, and again when the cards change.
class OpenclBackend : public Backend {
 public:
  explicit OpenclBackend(Roots roots) : roots_(std::move(roots)) {}

  const char* name() const override { return "opencl"; }
  Look look(const Wanted&, bool discover) override;

 private:
  void ask();

  const Roots roots_;
  std::vector<GpuDevice> devices_;
  std::vector<std::string> cards_;  // when it was asked
  bool was_asked_ = false;
  Backoff backoff_;
  std::string problem_;
};

void OpenclBackend::ask() {
  if (!backoff_.is_due()) throw base::Error("OpenCL", problem_);
  const ChildOutput output = run_copy(list_of_devices, kOpenclPatience);
  if (!output.was_in_time || !output.has_succeeded) {
    problem_ = output.was_in_time ? "a driver crashed when it was asked for its devices"
                                  : "the drivers did not list their devices in time";
    backoff_.failed();
    throw base::Error("OpenCL", problem_);
  }
  backoff_.succeeded();
  devices_ = parse_list(output.text);
}

Look OpenclBackend::look(const Wanted&, bool discover) {
  if (discover || !was_asked_) {
    std::vector<std::string> cards = names_in(roots_.sys + "/class/drm");
    // To list them wakes them.
    if ((!was_asked_ || cards != cards_) && !any_gpu_sleeps(roots_)) {
      was_asked_ = false;
      ask();
      was_asked_ = true;
      cards_ = std::move(cards);
    }
  }
  return {.devices = devices_, .errors = {}};
}

}  // namespace

std::unique_ptr<Backend> opencl_backend(const Roots& roots) {
  if (!opencl::open_library()) return nullptr;
  return std::make_unique<OpenclBackend>(roots);
}

}  // namespace fathom::devices
