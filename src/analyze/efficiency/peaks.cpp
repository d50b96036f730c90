#include "analyze/efficiency/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

#include "base/error.h"

namespace fathom::analyze {
namespace {

constexpr std::int64_t kGb = 1'000'000'000;

struct KnownDevice {
  std::array<std::string_view, 2>
      words;                  // of the name, all of them; the first row that fits counts
  std::int64_t least_memory;  // and at least so much memory
  DevicePeaks peaks;
};

constexpr std::optional<double> kNoPeak = std::nullopt;

// TFLOP/s: fp32 of vector units, TF32, 16-bit and FP8 of matrix cores, dense (half of what is given
// "with sparsity"); GB/s of memory, and of links to other GPUs, both ways. Each group of rows is
// from the data sheet or white paper that stands above it.
constexpr std::array kDevices = {
    // NVIDIA DGX B200 data sheet, an eighth of it
    KnownDevice{{"B200"}, 0, {80, 1100, 2250, 4500, 8000, 1800}},
    // NVIDIA H200 Tensor Core GPU data sheet, SXM
    KnownDevice{{"H200"}, 0, {66.9, 494.7, 989.4, 1978.9, 4800, 900}},
    // NVIDIA H100 Tensor Core GPU Architecture white paper
    KnownDevice{{"H100", "PCIe"}, 0, {51.2, 378, 756, 1513, 2000, 600}},
    KnownDevice{{"H100"}, 0, {66.9, 494.7, 989.4, 1978.9, 3350, 900}},
    // The same with the slower links of NVIDIA H800
    KnownDevice{{"H800", "PCIe"}, 0, {51.2, 378, 756, 1513, 2000, 400}},
    KnownDevice{{"H800"}, 0, {66.9, 494.7, 989.4, 1978.9, 3350, 400}},
    // NVIDIA A100 Tensor Core GPU data sheet: 80 GB as PCIe card, as SXM module, and 40 GB of both
    KnownDevice{{"A100", "PCIe"}, 60 * kGb, {19.5, 156, 312, kNoPeak, 1935, 600}},
    KnownDevice{{"A100"}, 60 * kGb, {19.5, 156, 312, kNoPeak, 2039, 600}},
    KnownDevice{{"A100", "80GB"}, 0, {19.5, 156, 312, kNoPeak, 2039, 600}},
    KnownDevice{{"A100"}, 0, {19.5, 156, 312, kNoPeak, 1555, 600}},
    // NVIDIA V100 Tensor Core GPU data sheet
    KnownDevice{{"V100", "PCIe"}, 0, {14, kNoPeak, 112, kNoPeak, 900, kNoPeak}},
    KnownDevice{{"V100"}, 0, {15.7, kNoPeak, 125, kNoPeak, 900, 300}},
    // NVIDIA L40S, L4 and T4 data sheets
    KnownDevice{{"L40S"}, 0, {91.6, 183, 362, 733, 864, kNoPeak}},
    KnownDevice{{"L4"}, 0, {30.3, 60, 121, 242, 300, kNoPeak}},
    KnownDevice{{"T4"}, 0, {8.1, kNoPeak, 65, kNoPeak, 320, kNoPeak}},
    // NVIDIA Ada, Ampere GA102 and Turing GPU Architecture white papers
    KnownDevice{{"RTX", "4090"}, 0, {82.6, 82.6, 165, 330, 1008, kNoPeak}},
    KnownDevice{{"RTX", "3090"}, 0, {35.6, 35.6, 71, kNoPeak, 936, kNoPeak}},
    KnownDevice{{"2080", "Ti"}, 0, {13.4, kNoPeak, 53.8, kNoPeak, 616, kNoPeak}},
    // AMD Instinct data sheets; each of the two dies of an MI250X is a device
    KnownDevice{{"MI355X"}, 0, {157.3, kNoPeak, 2516, 5033, 8000, 1075}},
    KnownDevice{{"MI325X"}, 0, {163.4, 653.7, 1307, 2615, 6000, 896}},
    KnownDevice{{"MI300X"}, 0, {163.4, 653.7, 1307, 2615, 5300, 896}},
    KnownDevice{{"MI250X"}, 0, {23.95, kNoPeak, 191.5, kNoPeak, 1638, kNoPeak}},
    KnownDevice{{"MI210"}, 0, {22.6, kNoPeak, 181, kNoPeak, 1638, kNoPeak}},
};

// Other cards of the same name, and parts of one: "H100 NVL", "A100-SXM4-40GB MIG 1g.5gb", "RTX
// 4090 Laptop GPU", "RTX 4090 D". Their peaks are those of a row that says such a word, or not
// known.
constexpr std::array<std::string_view, 14> kVariants = {"PCIe",   "NVL", "MIG",  "GRID", "Laptop",
                                                        "Mobile", "Max", "FHHL", "Ti",   "D",
                                                        "SUPER",  "Ada", "64GB", "CG1"};

bool is_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) ==
           std::tolower(static_cast<unsigned char>(right));
  });
}

bool has_word(const auto& words, std::string_view word) {
  return std::ranges::any_of(words, [&](std::string_view one) { return is_word(one, word); });
}

bool is_it(const KnownDevice& known, const std::vector<std::string_view>& words) {
  for (const std::string_view word : known.words) {
    if (!word.empty() && !has_word(words, word)) return false;
  }
  return std::ranges::all_of(kVariants, [&](std::string_view variant) {
    return !has_word(words, variant) || has_word(known.words, variant);
  });
}

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
                    "fp8 and link can be given too");
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

std::vector<std::string_view> device_words(std::string_view device_name) {
  std::vector<std::string_view> words;
  while (!device_name.empty()) {
    const std::size_t end = std::min(device_name.find_first_of(" -_/"), device_name.size());
    if (end > 0) words.push_back(device_name.substr(0, end));
    device_name.remove_prefix(std::min(end + 1, device_name.size()));
  }
  return words;
}

DevicePeaks peaks_of(std::string_view device_name, std::optional<std::int64_t> memory_bytes) {
  const std::vector<std::string_view> words = device_words(device_name);
  for (const KnownDevice& known : kDevices) {
    if (memory_bytes.value_or(0) >= known.least_memory && is_it(known, words)) return known.peaks;
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
