#include <algorithm>
#include <utility>

#include "devices/card_backend.h"
#include "devices/hwmon.h"
#include "devices/intel_reading.h"
#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

// Time in which a part of the GPU was not powered down, as a share. It may have been awake without
// work, so that this is what it did at most.
std::optional<double> awake_percent(std::optional<double> asleep_ms_per_second) {
  if (!asleep_ms_per_second) return {};
  return std::clamp(100 - *asleep_ms_per_second / 10, 0.0, 100.0);
}

class IntelReader : public CardReader {
 public:
  explicit IntelReader(const PciGpu& pci)
      : card_(intel::card_in(pci)), asleep_(card_.parts.size()) {}

  void identify(GpuDevice& into) override { intel::read_limits(card_, into); }

  void read(const Wanted& wanted, Rate::Time now, GpuDevice& into) override {
    intel::read_now(card_, wanted, into);
    into.now.utilization_percent.reset();
    for (std::size_t i = 0; i < card_.parts.size(); ++i) {
      const auto share = awake_percent(asleep_[i].of(intel::asleep_ms(card_.parts[i]), now));
      if (!share) continue;
      into.now.utilization_percent = std::max(into.now.utilization_percent.value_or(0), *share);
    }
    if (wanted.power) into.now.power_watts = power_.of(into.now.energy_joules, now);
  }

  bool shares_memory_of_host() const override { return false; }

 private:
  const intel::Card card_;
  std::vector<Rate> asleep_;  // of each part
  Rate power_;
};

}  // namespace

std::unique_ptr<Backend> intel_backend(const Roots& roots) {
  return card_backend({.backend = "intel",
                       .name = "Intel",
                       .pci_id = kIntelId,
                       .drivers = {"i915", "xe"},
                       .reader = [](const PciGpu& pci) -> std::unique_ptr<CardReader> {
                         return std::make_unique<IntelReader>(pci);
                       }},
                      roots);
}

}  // namespace fathom::devices
