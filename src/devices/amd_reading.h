#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "devices/backend.h"

// What the files of the amdgpu driver say, for a card that is awake.
namespace fathom::devices::amd {

struct Card {
  std::string folder;         // of the PCI device
  std::string hwmon;          // folder of its sensors; may be empty
  std::string sensor;         // of its temperature: "temp1"; may be empty
  std::string memory_sensor;  // of the temperature of its memory
  std::string core_clock;     // "freq1"; may be empty
  std::string memory_clock;
  bool is_apu = false;  // part of a processor, and of its memory
};

Card card_in(const std::string& folder);

// Its clocks, power limit and temperatures at most.
void read_limits(const Card& card, GpuDevice& into);
void read_now(const Card& card, const Wanted& wanted, GpuDevice& into);

// The fastest of a list like "0: 500Mhz\n1: 2475Mhz *", in hertz.
std::optional<double> fastest_clock(std::string_view list);

// ThrottleReason bits of the file gpu_metrics; nothing where its version does not tell.
std::optional<std::uint32_t> throttle_in(std::string_view gpu_metrics);

// Errors of memory: "ue: 0\nce: 3".
struct EccCounts {
  std::optional<std::uint64_t> corrected, uncorrected;
};
EccCounts parse_ecc(std::string_view text);

}  // namespace fathom::devices::amd
