#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace fathom::record::opencl {

// CLOCK_MONOTONIC_RAW: the clock of everything that is recorded.
std::int64_t now_ns() noexcept;

// What a finished command tells about its device's clock: the driver stamped `queued` while the
// program was inside the call, and had stamped `end` when the command was seen complete.
struct ClockSample {
  std::int64_t call_begin_ns = 0;
  std::int64_t call_end_ns = 0;
  std::int64_t seen_ns = 0;
  std::int64_t queued = 0;  // device clock
  std::int64_t end = 0;     // device clock
};

// Turns device timestamps into ours. Where the driver's stamps already are CLOCK_MONOTONIC_RAW
// (PoCL), they are kept to the nanosecond; else device and host timer are read together where the
// driver can; else the offset is enclosed by what each command shows. Used under the lock of
// whoever drains; not thread-safe.
class DeviceClock {
 public:
  // Takes the sample into account and returns what to add to the device's stamps.
  std::int64_t offset_ns(cl_device_id device, const ClockSample& sample) noexcept;

 private:
  enum class Source : std::uint8_t { unknown, same_clock, timer_pairs, bounds };

  bool read_pair(cl_device_id device) noexcept;
  void narrow(const ClockSample& sample) noexcept;

  Source source_ = Source::unknown;
  std::int64_t offset_ = 0;
  std::int64_t lower_ = INT64_MIN;  // the offset lies in [lower_, upper_]
  std::int64_t upper_ = INT64_MAX;
  std::int64_t updated_ns_ = 0;
};

}  // namespace fathom::record::opencl
