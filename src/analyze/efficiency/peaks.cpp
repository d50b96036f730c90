#include "analyze/efficiency/peaks.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>

#include "base/error.h"

namespace fathom::analyze {
namespace {

constexpr std::int64_t kGb = 1'000'000'000;

struct KnownDevice {
  std::string_view word;      // in the name of the device; the first row that fits counts
  std::string_view and_word;  // this, too
  std::int64_t least_memory;  // and at least so much memory
  DevicePeaks peaks;
};

constexpr std::optional<double> kNoPeak = std::nullopt;

// TFLOP/s: fp32 of vector units, TF32, 16-bit and FP8 of matrix cores, dense; GB/s of memory, and
// of links to other GPUs, both ways. Source of each row: the vendor's data sheet or white paper of
// that GPU (half of what is given "with sparsity"). Of the two dies of an MI250X each is a device.
constexpr std::array kDevices = {
    KnownDevice{"B200", "", 0, {80, 1100, 2250, 4500, 8000, 1800}},
    KnownDevice{"H200", "", 0, {66.9, 494.7, 989.4, 1978.9, 4800, 900}},
    KnownDevice{"H100", "PCIe", 0, {51.2, 378, 756, 1513, 2000, 600}},
    KnownDevice{"H100", "", 0, {66.9, 494.7, 989.4, 1978.9, 3350, 900}},
    KnownDevice{"H800", "PCIe", 0, {51.2, 378, 756, 1513, 2000, 400}},
    KnownDevice{"H800", "", 0, {66.9, 494.7, 989.4, 1978.9, 3350, 400}},
    KnownDevice{"A100", "", 60 * kGb, {19.5, 156, 312, kNoPeak, 2039, 600}},
    KnownDevice{"A100", "80GB", 0, {19.5, 156, 312, kNoPeak, 2039, 600}},
    KnownDevice{"A100", "", 0, {19.5, 156, 312, kNoPeak, 1555, 600}},
    KnownDevice{"V100", "PCI", 0, {14, kNoPeak, 112, kNoPeak, 900, kNoPeak}},
    KnownDevice{"V100", "", 0, {15.7, kNoPeak, 125, kNoPeak, 900, 300}},
    KnownDevice{"L40S", "", 0, {91.6, 183, 362, 733, 864, kNoPeak}},
    KnownDevice{"NVIDIA L4", "", 0, {30.3, 60, 121, 242, 300, kNoPeak}},
    KnownDevice{"Tesla T4", "", 0, {8.1, kNoPeak, 65, kNoPeak, 320, kNoPeak}},
    KnownDevice{"RTX 4090", "", 0, {82.6, 82.6, 165, 330, 1008, kNoPeak}},
    KnownDevice{"RTX 3090", "", 0, {35.6, 35.6, 71, kNoPeak, 936, kNoPeak}},
    KnownDevice{"RTX 2080 Ti", "", 0, {13.4, kNoPeak, 53.8, kNoPeak, 616, kNoPeak}},
    KnownDevice{"MI355X", "", 0, {157.3, kNoPeak, 2516, 5033, 8000, 1075}},
    KnownDevice{"MI325X", "", 0, {163.4, 653.7, 1307, 2615, 6000, 896}},
    KnownDevice{"MI300X", "", 0, {163.4, 653.7, 1307, 2615, 5300, 896}},
    KnownDevice{"MI250X", "", 0, {23.95, kNoPeak, 191.5, kNoPeak, 1638, kNoPeak}},
    KnownDevice{"MI210", "", 0, {22.6, kNoPeak, 181, kNoPeak, 1638, kNoPeak}},
};

// What `--peak` calls them, and where they are.
struct PeakName {
  std::string_view name;
  std::optional<double> DevicePeaks::*value;
};

constexpr std::array<PeakName, 6> kPeakNames = {{{"fp32", &DevicePeaks::fp32_tflops},
                                                 {"tf32", &DevicePeaks::tf32_tflops},
                                                 {"fp16", &DevicePeaks::fp16_tflops},
                                                 {"fp8", &DevicePeaks::fp8_tflops},
                                                 {"gbps", &DevicePeaks::memory_gb_s},
                                                 {"link", &DevicePeaks::link_gb_s}}};

[[noreturn]] void refuse(std::string_view part) {
  throw base::Error("--peak", fmt::format("invalid peak '{}'", part),
                    "Write TFLOP/s and GB/s as in --peak fp32=19.5,tf32=156,fp16=312,gbps=1555; "
                    "fp8 and link are known, too");
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  constexpr std::array<std::string_view, 4> kNames = {"fp32", "tf32", "fp16", "fp8"};
  return kNames[static_cast<std::size_t>(arithmetic)];
}

std::optional<double> DevicePeaks::tflops(Arithmetic arithmetic) const {
  return this->*kPeakNames[static_cast<std::size_t>(arithmetic)].value;
}

bool DevicePeaks::any() const {
  for (const PeakName& one : kPeakNames) {
    if (this->*one.value) return true;
  }
  return false;
}

DevicePeaks peaks_of(std::string_view device_name, std::optional<std::int64_t> memory_bytes) {
  for (const KnownDevice& known : kDevices) {
    const bool is_it = device_name.find(known.word) != device_name.npos &&
                       device_name.find(known.and_word) != device_name.npos &&
                       memory_bytes.value_or(0) >= known.least_memory;
    if (is_it) return known.peaks;
  }
  return {};
}

double good_gemm_pct(std::string_view device_name) {
  constexpr double kNvidiaPct = 60;
  constexpr double kAmdPct = 40;
  const bool is_amd = device_name.find("AMD") != device_name.npos ||
                      device_name.find("Instinct") != device_name.npos ||
                      device_name.starts_with("gfx");
  return is_amd ? kAmdPct : kNvidiaPct;
}

DevicePeaks parse_peaks(std::string_view text) {
  DevicePeaks peaks;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) refuse(part);
    const std::string_view number = part.substr(equals + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool is_number =
        error == std::errc() && end == number.data() + number.size() && value > 0 && value < 1e9;
    bool is_known = false;
    for (const PeakName& one : kPeakNames) {
      if (one.name != part.substr(0, equals)) continue;
      peaks.*one.value = value;
      is_known = true;
    }
    if (!is_number || !is_known) refuse(part);
  }
  return peaks;
}

DevicePeaks with_given(const DevicePeaks& known, const DevicePeaks& given) {
  DevicePeaks peaks = known;
  for (const PeakName& one : kPeakNames) {
    if (given.*one.value) peaks.*one.value = given.*one.value;
  }
  return peaks;
}

}  // namespace fathom::analyze
