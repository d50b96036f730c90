#include "devices/card_backend.h"

#include <algorithm>
#include <utility>

#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

struct KnownCard {
  PciGpu pci;
  std::vector<std::string> sensors;    // folders of hwmon: others after the driver was reloaded
  GpuDevice gpu;                       // without a reading
  std::unique_ptr<CardReader> reader;  // null until it was awake
};

class CardBackend : public Backend {
 public:
  CardBackend(CardVendor vendor, Roots roots)
      : vendor_(std::move(vendor)), roots_(std::move(roots)) {}

  const char* name() const override { return vendor_.backend; }
  Look look(const Wanted& wanted, bool discover) override;

 private:
  bool is_driven(const PciGpu& gpu) const {
    return std::ranges::find(vendor_.drivers, gpu.driver) != vendor_.drivers.end();
  }
  void discover_cards();
  KnownCard make_card(const PciGpu& pci) const;
  GpuDevice look_at(KnownCard& card, const Wanted& wanted, Rate::Time now) const;
  void add_processes(std::vector<GpuDevice>& devices, Rate::Time now);

  const CardVendor vendor_;
  const Roots roots_;
  std::vector<KnownCard> cards_;
  DrmProcessSweep sweep_;
  DescribedProcesses described_;  // those that have no card open as such
};

KnownCard CardBackend::make_card(const PciGpu& pci) const {
  KnownCard card;
  card.pci = pci;
  card.sensors = names_in(pci.folder + "/hwmon");
  card.gpu = {.uuid = "pci-" + pci.address,
              .pci_address = pci.address,
              .name = name_of_gpu(roots_, pci, vendor_.name),
              .vendor = vendor_.name,
              .type = "gpu",
              .driver = driver_version(roots_, pci.driver),
              .backend = vendor_.backend};
  return card;
}

void CardBackend::discover_cards() {
  std::vector<KnownCard> cards;
  for (const PciGpu& pci : pci_gpus(roots_, vendor_.pci_id)) {
    if (!is_driven(pci)) continue;
    const auto known = std::ranges::find_if(cards_, [&](const KnownCard& card) {
      return card.pci.address == pci.address && card.pci.driver == pci.driver &&
             card.pci.nodes == pci.nodes && card.sensors == names_in(pci.folder + "/hwmon");
    });
    cards.push_back(known != cards_.end() ? std::move(*known) : make_card(pci));
  }
  cards_ = std::move(cards);
}

GpuDevice CardBackend::look_at(KnownCard& card, const Wanted& wanted, Rate::Time now) const {
  GpuDevice gpu = card.gpu;
  if (link_name(card.pci.folder + "/driver") != card.pci.driver) {
    gpu.state = DeviceState::lost;
    card.reader.reset();
    return gpu;
  }
  if (is_suspended(card.pci.folder)) {
    gpu.state = DeviceState::suspended;
    return gpu;
  }
  if (!card.reader) {
    card.reader = vendor_.reader(card.pci);
    card.reader->identify(card.gpu);
    gpu = card.gpu;
  }
  card.reader->read(wanted, now, gpu);
  return gpu;
}

void CardBackend::add_processes(std::vector<GpuDevice>& devices, Rate::Time now) {
  std::vector<DrmCard> awake;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    if (devices[i].state != DeviceState::ok) continue;
    const KnownCard& card = cards_[i];
    awake.push_back({card.pci.address, card.pci.nodes, card.reader->shares_memory_of_host()});
  }
  DrmProcesses found = sweep_.look(roots_, awake, now);
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    if (devices[i].state != DeviceState::ok) continue;
    std::vector<GpuProcess>& processes = devices[i].processes;
    processes = std::move(found.of_card[cards_[i].pci.address]);
    for (const auto& [pid, bytes] : cards_[i].reader->other_memory()) {
      auto process = std::ranges::find(processes, pid, &GpuProcess::pid);
      if (process == processes.end()) {
        process = processes.insert(processes.end(), described_.describe(roots_, pid));
      }
      // Some of it may be told twice.
      process->memory_bytes = std::max(process->memory_bytes.value_or(0), bytes);
    }
    sort_processes(processes);
    devices[i].processes_are_partial = found.are_partial;
  }
  described_.end_look();
}

Look CardBackend::look(const Wanted& wanted, bool discover) {
  if (discover) discover_cards();
  const Rate::Time now = std::chrono::steady_clock::now();
  Look look;
  for (KnownCard& card : cards_) {
    look.devices.push_back(look_at(card, wanted, now));
    look.devices.back().index = static_cast<unsigned>(look.devices.size() - 1);
  }
  if (wanted.processes) add_processes(look.devices, now);
  return look;
}

}  // namespace

std::unique_ptr<Backend> card_backend(CardVendor vendor, const Roots& roots) {
  if (pci_gpus(roots, vendor.pci_id).empty()) return nullptr;
  return std::make_unique<CardBackend>(std::move(vendor), roots);
}

}  // namespace fathom::devices
