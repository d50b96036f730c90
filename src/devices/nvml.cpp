#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "devices/backoff.h"
#include "devices/kernel_files.h"
#include "devices/nvml_processes.h"
#include "devices/nvml_reading.h"
#include "devices/nvml_session.h"
#include "devices/pci_gpus.h"

namespace fathom::devices {
namespace {

struct KnownGpu {
  nvml::Device handle = nullptr;  // null where we may not, or must not, have it
  GpuDevice gpu;                  // without a reading
  bool is_lost = false;
  nvml::ProcessList processes;
};

// GPUs on the bus that NVIDIA's driver has; another driver may have others of them.
std::vector<std::string> driven_gpus(const Roots& roots) {
  std::vector<std::string> addresses;
  for (const PciGpu& gpu : pci_gpus(roots, kNvidiaId)) {
    if (gpu.driver == "nvidia") addresses.push_back(gpu.address);
  }
  return addresses;
}

// NVIDIA's GPUs through their management library.
class NvmlBackend : public Backend {
 public:
  NvmlBackend(std::shared_ptr<const nvml::Library> library, Roots roots)
      : library_(std::move(library)), roots_(std::move(roots)) {}

  const char* name() const override { return "nvml"; }
  Look look(const Wanted& wanted, bool discover) override;

 private:
  void begin_session();
  [[noreturn]] void end_session(int result);
  void discover_gpus();
  void look_for_returned();
  void watch_errors();
  void add(nvml::Device handle, int result, const std::string& fallback);
  void add_lost(const std::vector<PciGpu>& on_bus);
  KnownGpu without_handle(const PciGpu& gpu, DeviceState state) const;
  std::string pci_folder(const std::string& address) const {
    return roots_.sys + "/bus/pci/devices/" + address;
  }
  GpuDevice look_at(KnownGpu& known, const Wanted& wanted);
  void look_at_parts(const KnownGpu& whole, const Wanted& wanted, std::vector<GpuDevice>& into);
  void check(const nvml::Failures& failures) {
    if (failures.of_driver != nvml::kSuccess) end_session(failures.of_driver);
  }

  std::shared_ptr<const nvml::Library> library_;
  const Roots roots_;
  std::shared_ptr<nvml::Session> session_;
  std::weak_ptr<nvml::Session> ending_;  // of which the thread that waits for errors has a share
  std::string driver_;
  std::vector<KnownGpu> gpus_;
  std::vector<std::string> driven_;  // addresses on the bus, when the session began
  std::map<std::string, nvml::ProcessList> processes_of_parts_;  // by UUID
  std::unique_ptr<nvml::ErrorWatch> errors_;
  std::vector<std::pair<nvml::Device, std::string>> watched_;  // by errors_
  bool needs_restart_ = false;
  std::uint64_t looks_ = 0;
  std::string problem_;  // why there is no session
  Backoff backoff_;
};

// Starts the library, which counts how often it was started: what is to end must have ended.
void NvmlBackend::begin_session() {
  if (!backoff_.is_due() || !ending_.expired()) throw base::Error("NVML", problem_);
  try {
    if (!library_) library_ = nvml::open_library();
    if (!library_) throw base::Error("NVML", "its library can no longer be opened");
    session_ = std::make_shared<nvml::Session>(library_);
  } catch (const base::Error& error) {
    problem_ = error.problem();
    backoff_.failed();
    throw;
  }
  driven_ = driven_gpus(roots_);
  std::array<char, 81> version{};
  if (library_->driver_version(version.data(), version.size() - 1) == nvml::kSuccess) {
    driver_ = version.data();
  }
}

void NvmlBackend::end_session(int result) {
  problem_ = library_->text_of(result);
  errors_.reset();
  needs_restart_ = false;
  gpus_.clear();
  processes_of_parts_.clear();
  ending_ = session_;
  session_.reset();
  backoff_.failed();
  // A library that no longer fits its driver has to be loaded anew, once nobody is in it.
  if (result == nvml::kLibraryMismatch) library_.reset();
  throw base::Error("NVML", problem_);
}

void NvmlBackend::add(nvml::Device handle, int result, const std::string& fallback) {
  nvml::Failures failures;
  KnownGpu known;
  known.handle = handle;
  if (failures.passed(result)) {
    std::optional<GpuDevice> gpu = nvml::identity(session_->library(), handle, failures);
    if (gpu) {
      known.gpu = std::move(*gpu);
      nvml::read_limits(session_->library(), handle, known.gpu, failures);
      known.gpu.driver = driver_;
      known.is_lost = failures.is_lost;
      gpus_.push_back(std::move(known));
    }
  } else if (result == nvml::kNoPermission) {
    known.handle = nullptr;
    known.gpu = {.uuid = fallback, .name = "NVIDIA GPU", .vendor = "NVIDIA", .type = "gpu"};
    known.gpu.backend = "nvml";
    known.gpu.driver = driver_;
    known.gpu.state = DeviceState::no_permission;
    gpus_.push_back(std::move(known));
  }
  check(failures);
}

// GPUs of the bus that the library counts and that do not even say who they are. Beside others of
// which we may not know the address, it cannot be told which these are.
void NvmlBackend::add_lost(const std::vector<PciGpu>& on_bus) {
  const auto has_address = [](const KnownGpu& known) { return !known.gpu.pci_address.empty(); };
  if (!std::ranges::all_of(gpus_, has_address)) return;
  for (const PciGpu& gpu : on_bus) {
    const bool answers = std::ranges::any_of(
        gpus_, [&](const KnownGpu& known) { return known.gpu.pci_address == gpu.address; });
    if (answers) continue;
    gpus_.push_back(without_handle(gpu, DeviceState::lost));
    gpus_.back().is_lost = true;
  }
}

// One that must not, or cannot, be asked.
KnownGpu NvmlBackend::without_handle(const PciGpu& gpu, DeviceState state) const {
  KnownGpu known;
  known.gpu = {.uuid = "pci-" + gpu.address,
               .pci_address = gpu.address,
               .name = name_of_gpu(roots_, gpu, "NVIDIA"),
               .vendor = "NVIDIA",
               .type = "gpu",
               .driver = driver_,
               .backend = "nvml",
               .state = state};
  return known;
}

void NvmlBackend::discover_gpus() {
  const nvml::Library& library = session_->library();
  const std::vector<PciGpu> on_bus = pci_gpus(roots_, kNvidiaId);
  const auto is_asleep = [](const PciGpu& gpu) { return is_suspended(gpu.folder); };
  gpus_.clear();
  if (std::ranges::none_of(on_bus, is_asleep)) {
    nvml::Failures failures;
    unsigned count = 0;
    const bool is_counted = failures.passed(library.count(&count));
    check(failures);
    for (unsigned i = 0; is_counted && i < count; ++i) {
      nvml::Device handle = nullptr;
      const int result = library.by_index(i, &handle);
      add(handle, result, fmt::format("nvml-{}", i));
    }
    if (is_counted && gpus_.size() < count) add_lost(on_bus);
    return;
  }
  // By address, so that only those that are awake are touched.
  for (const PciGpu& gpu : on_bus) {
    if (is_asleep(gpu)) {
      gpus_.push_back(without_handle(gpu, DeviceState::suspended));
      continue;
    }
    nvml::Device handle = nullptr;
    const int result = library.by_pci(gpu.address.c_str(), &handle);
    add(handle, result, "pci-" + gpu.address);
  }
}

GpuDevice NvmlBackend::look_at(KnownGpu& known, const Wanted& wanted) {
  GpuDevice gpu = known.gpu;
  if (known.handle == nullptr) return gpu;
  if (!gpu.pci_address.empty() && is_suspended(pci_folder(gpu.pci_address))) {
    gpu.state = DeviceState::suspended;
    return gpu;
  }
  nvml::Failures failures;
  if (!known.is_lost) {
    nvml::read_now(session_->library(), known.handle, wanted, roots_, gpu, failures);
    check(failures);
    known.is_lost = failures.is_lost;
    gpu.needs_reset = failures.needs_reset;
  }
  if (known.is_lost) {
    gpu.state = DeviceState::lost;
    return gpu;
  }
  if (wanted.processes) {
    gpu.processes = known.processes.look(session_->library(), known.handle, roots_);
  }
  return gpu;
}

// Handles of parts are given again when a GPU is divided anew, so they are not kept.
void NvmlBackend::look_at_parts(const KnownGpu& whole, const Wanted& wanted,
                                std::vector<GpuDevice>& into) {
  const nvml::Library& library = session_->library();
  unsigned is_divided = 0;
  unsigned will_be = 0;
  if (library.mig_mode(whole.handle, &is_divided, &will_be) != nvml::kSuccess) return;
  unsigned most = 0;
  if (is_divided != 1 || library.most_mig_devices(whole.handle, &most) != nvml::kSuccess) return;
  for (unsigned i = 0; i < most; ++i) {
    nvml::Device handle = nullptr;
    if (library.mig_device(whole.handle, i, &handle) != nvml::kSuccess) continue;  // a free place
    nvml::Failures failures;
    std::optional<GpuDevice> part = nvml::identity(library, handle, failures);
    if (!part) continue;
    part->type = "mig";
    part->driver = driver_;
    part->pci_address = whole.gpu.pci_address;
    if (part->name.empty()) part->name = whole.gpu.name + " MIG";
    if (wanted.memory) nvml::read_memory(library, handle, roots_, *part, failures);
    if (wanted.processes) {
      part->processes = processes_of_parts_[part->uuid].look(library, handle, roots_);
    }
    into.push_back(std::move(*part));
  }
}

// The library finds a GPU that came, or came back, only when it is started anew, once nobody is in
// it.
void NvmlBackend::look_for_returned() {
  const bool any_is_lost =
      std::ranges::any_of(gpus_, [](const KnownGpu& known) { return known.is_lost; });
  const bool any_is_new = std::ranges::any_of(driven_gpus(roots_), [&](const std::string& address) {
    return std::ranges::find(driven_, address) == driven_.end();
  });
  if (!any_is_lost && !any_is_new) return;
  needs_restart_ = true;
  errors_.reset();
}

void NvmlBackend::watch_errors() {
  std::vector<std::pair<nvml::Device, std::string>> watched;
  for (const KnownGpu& known : gpus_) {
    if (known.handle != nullptr && !known.is_lost) {
      watched.emplace_back(known.handle, known.gpu.uuid);
    }
  }
  if (errors_ && watched == watched_) return;
  watched_ = watched;
  errors_ = std::make_unique<nvml::ErrorWatch>(session_, std::move(watched));
}

Look NvmlBackend::look(const Wanted& wanted, bool discover) {
  if (!session_) {
    begin_session();
    discover = true;
  }
  Look look;
  if (errors_) look.errors = errors_->take();
  if (discover) look_for_returned();
  if (needs_restart_ && session_.use_count() == 1) {
    session_.reset();
    begin_session();
    needs_restart_ = false;
    discover = true;
  }
  if (discover && !needs_restart_) discover_gpus();
  for (KnownGpu& known : gpus_) {
    look.devices.push_back(look_at(known, wanted));
    if (look.devices.back().state == DeviceState::ok) look_at_parts(known, wanted, look.devices);
  }
  for (std::size_t i = 0; i < look.devices.size(); ++i) {
    look.devices[i].index = static_cast<unsigned>(i);
  }
  backoff_.succeeded();
  if (++looks_ > 1 && !needs_restart_) watch_errors();  // who looks once has no use for them
  return look;
}

}  // namespace

std::unique_ptr<Backend> nvml_backend(const Roots& roots) {
  std::shared_ptr<const nvml::Library> library = nvml::open_library();
  if (!library) return nullptr;
  return std::make_unique<NvmlBackend>(std::move(library), roots);
}

}  // namespace fathom::devices
