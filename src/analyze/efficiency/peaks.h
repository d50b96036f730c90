#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::analyze {

// What a matrix product computes in. 16-bit floats of both kinds have one peak.
enum class Arithmetic : std::uint8_t { fp32, tf32, fp16, fp8 };

std::string_view name_of(Arithmetic arithmetic);

// What a GPU can do at most, as its vendor says: dense, without sparsity. Absent where unknown.
struct DevicePeaks {
  std::optional<double> fp32_tflops;  // of vector units
  std::optional<double> tf32_tflops;  // the others, of tensor or matrix cores
  std::optional<double> fp16_tflops;
  std::optional<double> fp8_tflops;
  std::optional<double> memory_gb_s;
  std::optional<double> link_gb_s;  // to other GPUs, both ways together

  std::optional<double> tflops(Arithmetic arithmetic) const;
  bool any() const;
};

// The words of a device's name: "NVIDIA A100-SXM4-80GB" has three.
std::vector<std::string_view> device_words(std::string_view device_name);

// By the name that the driver gives the device; nothing where the table of peaks.cpp does not know
// it, nor of a slice of a GPU or of a slower card of that name (NVL, MIG, laptop). Memory tells
// apart GPUs that are sold with more or less of it under one name.
DevicePeaks peaks_of(std::string_view device_name, std::optional<std::int64_t> memory_bytes = {});

// What well-tuned matrix products on tensor cores reach of the peak, in per cent: 60 on NVIDIA's
// GPUs and 40 on AMD's, whose clock falls further below that of the peak under such load.
double good_gemm_pct(std::string_view device_name);

// "fp32=19.5,tf32=156,fp16=312,gbps=1555": TFLOP/s and GB/s, in any order, those that are known;
// "fp8" and "link", too. Throws base::Error.
DevicePeaks parse_peaks(std::string_view text);

// `given` where it says anything, else `known`.
DevicePeaks with_given(const DevicePeaks& known, const DevicePeaks& given);

}  // namespace fathom::analyze
