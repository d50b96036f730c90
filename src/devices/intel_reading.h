#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/pci_gpus.h"

// What the files of the drivers i915 and xe say, for a card that is awake. Neither tells how much
// memory is used without special rights, and neither a share of the time in which it was busy.
namespace fathom::devices::intel {

// A part that computes and draws; there may be several. Video is done by others, left out here.
struct Part {
  std::string clock, most_clock;  // files, in MHz
  std::string asleep;             // a file: milliseconds in which it was powered down
  std::string is_throttled;       // a file: 0 or 1
  std::string throttle_reason;    // files are named by this and the reason
};

struct Card {
  std::string hwmon;  // folder of its sensors; may be empty
  bool is_xe = false;
  std::vector<Part> parts;
};

Card card_in(const PciGpu& pci);
void read_limits(const Card& card, GpuDevice& into);
// All but what takes two looks: energy, not power.
void read_now(const Card& card, const Wanted& wanted, GpuDevice& into);
std::optional<double> asleep_ms(const Part& part);

}  // namespace fathom::devices::intel
